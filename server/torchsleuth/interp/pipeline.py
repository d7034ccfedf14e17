"""Records about data: what the collate function, a loader or a transform raises, with the values that it raises for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchsleuth.values import Function, LibraryObject, Site, Value

LOADER = "torch.utils.data.DataLoader"


@dataclass(frozen=True)
class Refusal:
    """Samples that the default collate cannot batch.

    kind: ragged (tensors of different shapes), length (lists of different lengths), type (something it has no rule
    for), keys (dicts with different keys). `path`: where in the sample, such as ``(0,)`` or ``("image",)``. `values`:
    those that differ, or the one refused. `dims`: the dimensions of the tensors that differ, None where their number does.
    """

    kind: str
    path: tuple[Any, ...]
    values: tuple[Any, ...]
    dims: tuple[int, ...] | None = None


@dataclass(frozen=True)
class DataFault:
    """Something that raises on the way from a dataset to a batch.

    kind: collate, stack (torch.stack of samples that differ), missing_len, transform (an image transform gets a type that
    it refuses), left behind (a plain tensor that a transform does not move with the image; its key follows), channels (Normalize for another number of channels), bytes (Normalize of values
    that a transform, which follows, has left between 0 and 255), normalized (a detector that normalises gets what a transform has normalised), empty (a random order of no samples), lengths and
    arrays (of a TensorDataset), split (lengths that do not add up), missing_getitem, subscript (of a loader),
    by label (an element of a column that was split at random, looked up by the number of the sample),
    no_batches (samples and batch size in `values`), list (used as a tensor, and made by the default collate), weights (of a sampler: they, their number and that of the
    samples). `at`: where PyTorch raises. `loader`: whose construction or iteration it is. `dataset`: the one
    the samples come from, below any Subset. `getitem`: its method. `sample`: one that is fine otherwise. `values`: the
    transform and what it was given.
    """

    kind: str
    at: Site
    loader: LibraryObject | None = None
    dataset: Any = None
    getitem: Function | None = None
    refusals: tuple[Refusal, ...] = ()
    sample: Value = None
    values: tuple[Any, ...] = ()
