"""Operators executed on small real tensors: concrete sizes in place of symbols, and plain fillings in place of data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from torchsleuth.oracle.fake import Unsupported
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol
from torchsleuth.tensors.spec import DictSpec, Hole, ListSpec, StructSpec, TensorSpec

EAGER_LIMIT = 1 << 22
"""Elements an operator may touch when it is executed on real tensors."""

WITNESSES = ((11, 13, 17, 19, 23, 29, 31, 37, 41, 43), (97, 89, 83, 79, 73, 71, 67, 61, 59, 53))
"""Sizes in place of symbols: primes, so that none is a product of others, and two sets, to tell sizes from constants; one
rises and one falls, to tell a size from the greatest of several."""

EVEN_WITNESSES = tuple(number * 12 for number in (5, 7, 11, 13, 17, 19, 23, 29, 31, 37))
"""Sizes that most numbers divide which a script divides by."""

SHORT_WITNESSES = ((7, 11, 13, 17, 23, 31), (43, 41, 37, 29, 19, 5))
"""The same for layers that go through a sequence step by step, of which each step is an evaluation."""

FILLINGS = ("zeros", "ones", "ramp", "noise", "stairs")
"""Contents in place of data. Integers are 0 and 1 in all but the last: valid indices nearly everywhere."""


MOST_LONGER = 16
"""By how much a result is taken to be longer or shorter than an operand, rather than to be of a size that happens to be near."""


class Witness:
    """Small concrete sizes in place of symbols, and tensors of them."""

    def __init__(self, values: tuple[int, ...], filling: str = "zeros") -> None:
        self.values = values
        self.filling = filling
        self.chosen: dict[Symbol, int] = {}
        self.computed: dict[Size, int] = {}
        self.elements = 0
        self.noise = torch.Generator().manual_seed(0) if filling == "noise" else None

    def size(self, size: Size) -> int:
        if isinstance(size, int):
            return size
        for symbol in dims.symbols(size):
            self.chosen.setdefault(symbol, self.values[len(self.chosen) % len(self.values)])
        try:
            value = dims.substitute(size, dict(self.chosen))
        except ZeroDivisionError as error:  # a quotient of the witnesses, by which something is divided
            raise Unsupported("no witness") from error
        if not isinstance(value, int) or value < 1:
            raise Unsupported("no witness")
        if dims.symbol(size) is None:
            self.computed[size] = value
        return value

    def sizes(self) -> Iterator[tuple[Size, int]]:
        """The symbols, and the sizes of operands that are computed from them, with what they are here."""
        for symbol, value in self.chosen.items():
            yield dims.of(symbol), value
        yield from self.computed.items()

    def tensor(self, spec: TensorSpec) -> torch.Tensor:
        if spec.shape is None or spec.dtype is None:
            raise Unsupported("a tensor of unknown shape")
        shape = [self.size(size) for size in spec.shape]
        dtype = getattr(torch, spec.dtype)
        count = 1
        for size in shape:
            count *= size
        strides = None if spec.strides is None else [self.size(stride) for stride in spec.strides]
        if strides is not None:
            count = max(1, 1 + sum((size - 1) * stride for size, stride in zip(shape, strides) if size))
        self.elements += count
        if self.elements > EAGER_LIMIT:
            raise Unsupported("too large to execute")
        content = self._content(count, dtype)
        tensor = content.reshape(shape) if strides is None else content.as_strided(shape, strides)
        if spec.requires_grad and (dtype.is_floating_point or dtype.is_complex):
            with torch.enable_grad():
                tensor = tensor + torch.zeros((), dtype=dtype, requires_grad=True)
        return tensor

    def _content(self, count: int, dtype: torch.dtype) -> torch.Tensor:
        if self.filling == "zeros":
            return torch.zeros(count, dtype=dtype)
        if self.filling == "ones":
            return torch.ones(count, dtype=dtype)
        real = dtype.is_floating_point or dtype.is_complex
        if self.filling == "stairs":
            return torch.arange(count).to(dtype)
        if self.filling == "ramp":
            ramp = torch.arange(count)
            return (ramp / 8 if real else ramp % 2).to(dtype)
        if real:
            return torch.rand(count, generator=self.noise).to(dtype)
        return torch.randint(0, 2, (count,), generator=self.noise).to(dtype)


def generalise(first: tuple[Any, Witness], second: tuple[Any, Witness], *others: tuple[Any, Witness]) -> Any:
    """The result that two evaluations with different witnesses are instances of, and `others`, too.

    A size that is one symbol's witness both times is that symbol, or what an operand's size is computed as, if it is only one
    of these; one that is the same multiple or fraction of it both times is that, and so is one that is longer or shorter by the
    same; one that never changes is a constant;
    anything else is unknown.
    Raises Unsupported.
    """
    if others:
        result = generalise(first, second)
        if any(generalise(first, other) != result for other in others):
            raise Unsupported("result depends on a quotient of sizes")
        return result
    (left, left_witness), (right, right_witness) = first, second
    match left:
        case TensorSpec() if isinstance(right, TensorSpec):
            if left.shape is None or right.shape is None or len(left.shape) != len(right.shape):
                raise Unsupported("rank depends on a size")
            shape = tuple(generalise((a, left_witness), (b, right_witness)) for a, b in zip(left.shape, right.shape))
            return TensorSpec(shape, left.dtype, None, left.requires_grad, None)
        case tuple() if isinstance(right, tuple) and len(left) == len(right):
            return tuple(generalise((a, left_witness), (b, right_witness)) for a, b in zip(left, right))
        case StructSpec() if isinstance(right, StructSpec):
            return replace(left, items=generalise((left.items, left_witness), (right.items, right_witness)))
        case ListSpec() if isinstance(right, ListSpec) and len(left.items) == len(right.items):
            return ListSpec(generalise((left.items, left_witness), (right.items, right_witness)))
    if type(left) is not type(right):
        raise Unsupported("result depends on a size")
    if left == right:
        return left
    if isinstance(left, int):
        known = list(zip(left_witness.sizes(), right_witness.sizes()))
        same = {
            size for (size, value), (other, changed) in known if size == other and (value, changed) == (left, right)
        }
        # Of a slice, the size is the greater of a stride and zero.
        told = [size for size in same if dims.extremum("max", size, 0) not in same - {size}]
        if len(told) == 1:
            return told[0]
        for (size, value), (other, changed) in known if not same else ():
            part = _part(size, value, changed, left, right) if size == other else None
            if part is not None:
                return part
        longer = [
            size for (size, value), (other, changed) in known if size == other and left - value == right - changed
        ]
        if len(longer) == 1 and abs(left - left_witness.size(longer[0])) <= MOST_LONGER:
            return dims.add(longer[0], left - left_witness.size(longer[0]))
        return dims.of(Symbol("?", -1000 - left))
    raise Unsupported("result depends on a size")


def _part(size: Size, value: int, changed: int, left: int, right: int) -> Size | None:
    """The multiple or fraction of a size that is `left` where it is `value`, and `right` where it is `changed`."""
    if 0 in (value, changed, left, right):
        return None
    if left % value == right % changed == 0 and left // value == right // changed:
        return dims.multiply(size, left // value)
    if value % left == changed % right == 0 and value // left == changed // right:
        return dims.floor_divide(size, value // left) if dims.modulo(size, value // left) == 0 else None
    return None


def common(values: list[Any], position: tuple[int, ...] = ()) -> Any:
    """The common part of evaluations with the same sizes and different data. Sizes that differ are unknown, and so is the
    value of every number. Raises Unsupported where ranks, dtypes or structures differ."""
    first = values[0]
    if any(type(value) is not type(first) for value in values):
        raise Unsupported("the kind of the result depends on the data")
    match first:
        case TensorSpec():
            if len({(len(value.shape or ()), value.dtype) for value in values}) != 1 or first.shape is None:
                raise Unsupported("the rank or dtype depends on the data")
            shape: list[Size] = []
            for axis, sizes in enumerate(zip(*(value.shape for value in values))):
                same = all(size == sizes[0] for size in sizes)
                shape.append(sizes[0] if same else _depends_on_data((*position, axis)))
            grads = {value.requires_grad for value in values}
            strides = first.strides if all(value.strides == first.strides for value in values) else None
            known = strides if all(isinstance(size, int) for size in shape) else None
            return TensorSpec(tuple(shape), first.dtype, None, grads.pop() if len(grads) == 1 else None, known)
        case tuple():
            if len({len(value) for value in values}) != 1:
                raise Unsupported("how many results there are depends on the data")
            return tuple(common(list(items), (*position, index)) for index, items in enumerate(zip(*values)))
        case StructSpec():
            return replace(first, items=common([value.items for value in values], position))
        case ListSpec():
            return ListSpec(common([value.items for value in values], position))
        case DictSpec():
            return DictSpec(common([value.items for value in values], position))
        case bool() | int() | float():
            return Hole(type(first).__name__)
    if all(value == first for value in values):
        return first
    raise Unsupported("the result depends on the data")


def _depends_on_data(position: tuple[int, ...]) -> Size:
    number = 0
    for index in position:
        number = number * 16 + index + 1
    return dims.of(Symbol("?", -2000 - number, positive=False))
