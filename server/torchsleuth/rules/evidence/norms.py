"""Batch norms that keep statistics of what they have seen, for evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.sifting import of_kind
from torchsleuth.values import LibraryModule, Value

BATCH_NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")


def batch_norms(module: Value) -> Iterator[LibraryModule]:
    """Those that a module has."""
    for part in of_kind(descendants(module), LibraryModule):
        if part.type_name in BATCH_NORMS and part.kwargs.get("track_running_stats", True) is True:
            yield part
