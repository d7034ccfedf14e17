"""Sizes that pooling gives where its windows are symbols, as those of the input are: ``F.avg_pool2d(x, x.size(2))``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchsleuth.interp.trace import Operation
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import Value, is_int, opened

_POOLS = re.compile(r"(adaptive_)?(max|avg)_?pool([123])d", re.IGNORECASE)
_PARAMETERS = {
    "max": ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"),
    "max_pool": ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices"),
    "avg": ("kernel_size", "stride", "padding", "ceil_mode"),
}
"""The parameters behind the input: of layers, and of functions where these have another order."""
_PLAIN = {"return_indices": False, "ceil_mode": False, "dilation": 1}


def pooled(operation: Operation, shape: tuple[Size, ...]) -> tuple[tuple[Size, ...], list[tuple[Size, Size]]] | None:
    """The shape that pooling gives an input of this shape, and which sizes have to be at least as large as which; None for
    another operator, or where that is not known."""
    form = _POOLS.fullmatch(operation.name.replace("Adaptive", "adaptive_"))
    count = int(form[3]) if form is not None else 0
    if form is None or len(shape) not in (count + 1, count + 2):
        return None
    before, last = shape[:-count], shape[-count:]
    module = operation.module
    given = operation.args[1:] if module is None else module.args
    named = operation.kwargs if module is None else module.kwargs
    if form[1]:
        wanted = _sizes((*given, named.get("output_size"))[0], count)
        return None if wanted is None else ((*before, *(b if a is None else a for a, b in zip(wanted, last))), [])
    kind = form[2].lower()
    names = _PARAMETERS[kind if module is not None else "max_pool" if kind == "max" else kind]
    known = dict(zip(names, given)) | named
    if any(known.get(name, plain) != plain for name, plain in _PLAIN.items()) or not set(known) <= set(names):
        return None
    kernels = _sizes(known.get("kernel_size"), count)
    strides = _sizes(known.get("stride"), count) or kernels
    paddings = _sizes(known.get("padding", 0), count)
    if kernels is None or strides is None or paddings is None:
        return None
    if len({*kernels}) == 1 and kernels[0] in last and len({*last}) > 1:
        # A square window as high as the input is for square ones: what it gives others is not what is meant.
        return None
    return _windows(before, last, list(zip(kernels, strides, paddings)))


def _windows(
    before: tuple[Size, ...], last: tuple[Size, ...], windows: list[tuple[Size | None, Size | None, Size | None]]
) -> tuple[tuple[Size, ...], list[tuple[Size, Size]]] | None:
    sizes: list[Size] = []
    needed: list[tuple[Size, Size]] = []
    for size, (kernel, stride, padding) in zip(last, windows):
        if kernel is None or stride is None or padding is None or stride == 0:
            return None
        whole = dims.add(size, dims.multiply(2, padding))
        needed.append((whole, kernel))
        sizes.append(dims.add(dims.floor_divide(dims.subtract(whole, kernel), stride), 1))
    return (*before, *sizes), needed


def _sizes(value: Value, count: int) -> tuple[Size | None, ...] | None:
    """One size for each dimension; None where they are not known."""
    parts = (value,) * count if is_int(value) else opened(value)
    if not isinstance(parts, tuple) or len(parts) != count:
        return None
    found = tuple(_of(parts))
    return found if len(found) == count else None


def _of(parts: tuple[Value, ...]) -> Iterator[Size | None]:
    for part in parts:
        if part is None or is_int(part):
            yield part


__all__ = ["pooled"]
