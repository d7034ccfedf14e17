"""Results of operators that divide a dimension into parts: equal ones, where it is a multiple of their number, or two halves."""

from __future__ import annotations

from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_index
from torchsleuth.tensors.spec import Result
from torchsleuth.values import is_int

MOST = 16
"""Parts that are counted."""


def equal_parts(operation: Operation) -> Result | None:
    """The parts of ``x.chunk(k, dim)`` and of ``x.split(n // k, dim)`` for a size that is not a number: ``n // k`` each.
    None where the operator is another one, or its parts are known anyway."""
    shape = operation.specs[0].shape if operation.specs else None
    if operation.name not in ("chunk", "split") or operation.module is not None or shape is None:
        return None
    dim = operation.given(2, "dim", 0)
    if not is_index(dim, shape) or isinstance(shape[dim], int):
        return None
    whole, asked = shape[dim], operation.given(1, "chunks" if operation.name == "chunk" else "split_size")
    count = as_kind(asked, int) if operation.name == "chunk" else _count(whole, asked) if is_int(asked) else None
    if count is None or not 1 < count <= MOST or dims.modulo(whole, count) == 0:
        return None
    part = list(shape)
    part[dim] = dims.floor_divide(whole, count)
    return Result((operation.specs[0].with_(shape=tuple(part), strides=None),) * count)


def halves(operation: Operation, shape: tuple[Size, ...] | None) -> Result | None:
    """The parts of ``x.chunk(2, dim)`` for a size that is no number, but at least 2: the first one has one more where it is odd. None
    where the operator is another one. `shape`: that of the tensor."""
    if operation.name != "chunk" or operation.module is not None or shape is None or operation.given(1, "chunks") != 2:
        return None
    dim = operation.given(2, "dim", 0)
    if not is_index(dim, shape) or isinstance(shape[dim], int):
        return None
    less = dims.floor_divide(shape[dim], 2)
    axis = dim % len(shape)
    parts = ((*shape[:axis], size, *shape[axis + 1 :]) for size in (dims.subtract(shape[dim], less), less))
    return Result(tuple(operation.specs[0].with_(shape=part, strides=None) for part in parts))


def _count(whole: Size, part: Size) -> int | None:
    """How many parts there are if each is the whole divided by a number."""
    return next((count for count in range(2, MOST + 1) if dims.floor_divide(whole, count) == part), None)
