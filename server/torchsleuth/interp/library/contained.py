"""Integers that an array of NumPy holds for certain, because they were written into it: ``mask[top:bottom] = 255``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import contents, draws
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.values import AnyIndex, Array, Bounds, Ends, SliceValue, Tags, Value, elements_of, is_int, tuple_of

_KEEPS = frozenset(
    "reshape transpose ravel flatten squeeze swapaxes moveaxis expand_dims atleast_1d atleast_2d atleast_3d repeat tile copy "
    "array asarray asanyarray ascontiguousarray asfortranarray flip fliplr flipud rot90 roll broadcast_to stack concatenate "
    "concat vstack hstack dstack append pad int32 int64 uint8 int16 T".split()
)
"""Functions and methods whose result holds all that their operands hold."""
_COPIES = frozenset(("array", "copy"))
"""Those that leave all elements as they are, in an array of their own."""
_WRITES = frozenset("copyto place put putmask fill_diagonal".split())
_LIMITS = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1)}


def of(value: Value) -> Ends | None:
    """The integers that an array, or one of several, holds for certain."""
    if isinstance(value, Array):
        ends = value.slots["ends"]
        return as_kind(ends, Ends)
    items = elements_of(value) or ()
    return together(of(item) for item in of_kind(items, Array))


def together(parts: Iterable[Ends | None]) -> Ends | None:
    """The contents of a value that is put together of these."""
    known = [part for part in parts if part is not None]
    return Ends(min(one.low for one in known), max(one.high for one in known)) if known else None


def tags(array: Array) -> Tags:
    """Facts about the integers in an array, as the tags of a tensor made of it."""
    bounds = as_kind(array.slots["bounds"], Bounds)
    ends = of(array)
    bounds = bounds if bounds is not None else array.slots["spread"]
    known = bounds if bounds is not None else ends
    return frozenset({known} - {None}) | array.slots.get("numbered", frozenset())


def written(value: Value) -> Ends | None:
    """The contents of an array after this was written to a part of it: those that it held before may be overwritten."""
    return Ends(int(value), int(value)) if is_number(value) else None


def write(interp: Interpreter, array: Array, key: Value, value: Value) -> None:
    """A value is written to a part of an array: of the number that was written before, something is left where its part reaches
    further."""
    new, before = written(value), array.slots.get("constant")
    part = _stretches(interp, key)
    left = None
    if isinstance(before, _Written) and _reaches_further(interp, before.part, part, array.spec.shape or ()):
        left = before.ends
    interp.heap.set(array.slots, "ends", together((new, left)))
    kept = before if left is not None else None
    interp.heap.set(array.slots, "constant", _Written(part, new) if new is not None else kept)


@dataclass(frozen=True)
class _Written:
    """A number that was written to a part of an array."""

    part: _Stretches
    ends: Ends


_Stretches = tuple[tuple[Size, Size] | None, ...]
"""Of each dimension, where a part begins and ends; None where that is not known."""


def _stretches(interp: Interpreter, key: Value) -> _Stretches:
    found: list[tuple[Size, Size] | None] = []
    for part in tuple_of(key):
        ends = (part.start, part.stop) if isinstance(part, SliceValue) and part.step is None else ()
        start, stop = (draws.plain_number(interp, interp.resolved(end)) for end in ends or (None, None))
        found.append((start, stop) if is_int(start) and is_int(stop) else None)
    return tuple(found)


def _reaches_further(interp: Interpreter, one: _Stretches, other: _Stretches, shape: tuple[Size, ...]) -> bool:
    """Whether a part has elements behind the end of another one."""
    for first, second, size in zip(one, other, shape):
        if first is not None and second is not None:
            further = all(draws.at_least(interp, dims.subtract(end, second[1])) >= 1 for end in (first[1], size))
            if further and draws.at_least(interp, second[1]) >= 0:
                return True
    return False


def chosen(one: Value, other: Value) -> Ends | None:
    """``np.where(condition, 255, 0)``: where something is asked, both answers occur."""
    numbers = [value for value in (one, other) if is_number(value)]
    return Ends(min(numbers), max(numbers)) if len(numbers) == 2 else None


def kept(interp: Interpreter, name: str, operands: tuple[Value, ...], result: Value) -> Value:
    """The result of a function or method of NumPy, with what its operands hold where it keeps that."""
    if name in _WRITES:
        forget(interp, operands[:1])
    if isinstance(result, Array) and name in _KEEPS and result.slots["ends"] is None and operands:
        first = operands[0]
        result.slots["ends"] = of(first) if name != "append" else together(map(of, operands))
    if isinstance(result, Array) and name in _COPIES and operands and isinstance(operands[0], Array):
        same = result.spec.dtype == operands[0].spec.dtype
        result.slots["spread"] = operands[0].slots["spread"] if same else None
    return result


def forget(interp: Interpreter, values: tuple[Value, ...]) -> None:
    """Code that is not known may write to these."""
    for value in of_kind(values, Array):
        interp.heap.set(value.slots, "ends", None)
        interp.heap.set(value.slots, "spread", None)
    contents.forget(interp, values)


def in_part(ends: Ends | None, key: Value) -> Ends | None:
    """The contents of a part: one of many samples, or all of it with its dimensions in another order."""
    if ends is None or not isinstance(key, tuple):
        return ends if key is None or is_int(key) or key is ... else ends if _is_whole(key) else None
    first, *rest = key
    alike = first is None or first is ... or isinstance(first, AnyIndex) or is_int(first) or _is_whole(first)
    return ends if alike and all(one is None or one is ... or _is_whole(one) for one in rest) else None


def _is_whole(key: Value) -> bool:
    return isinstance(key, SliceValue) and key.start is None and key.stop is None and key.step in (None, -1)


def fits(ends: Bounds | Ends | None, dtype: str | None) -> bool:
    """Whether a dtype of few bits holds these numbers as they are."""
    low, high = _LIMITS.get(dtype or "", (0, 0))
    return ends is not None and (dtype not in _LIMITS or (low <= ends.low and ends.high <= high))
