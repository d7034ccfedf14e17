"""Numbers of classes: which a loss ignores, which a tensor holds, and where they are chosen."""

from __future__ import annotations

from torchsleuth.interp.library.hierarchy import ENTROPIES
from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.values import Bounds, Ends, Tensor

DEFAULT_IGNORED = -100
_CHOICES = frozenset({"argmax", "argmin"})


def is_entropy(operation: Operation) -> bool:
    """Whether an operation is a loss over numbers of classes."""
    return operation.target in ENTROPIES


def ignored_by(operation: Operation) -> int:
    """The number that such a loss leaves out."""
    options = operation.module.kwargs if operation.module is not None else operation.kwargs
    value = as_kind(options.get("ignore_index", DEFAULT_IGNORED), int)
    return value if value is not None else DEFAULT_IGNORED


def held(tensor: Tensor) -> Bounds | Ends | None:
    """Numbers that a tensor holds, as far as they are known."""
    return first_of(tensor.tags, Bounds, Ends)


def is_choice(tensor: Tensor) -> bool:
    """Whether a tensor holds the numbers of the best scores."""
    origin = tensor.origin
    return origin is not None and origin.name in _CHOICES


__all__ = ["DEFAULT_IGNORED", "held", "ignored_by", "is_choice", "is_entropy"]
