"""Between which integers the elements of a tensor or array lie, and of its parts; both ends can occur."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from torchsleuth.interp.library import draws
from torchsleuth.interp.values import AnyIndex, Bounds, Ends, ListValue, SliceValue, Tags, Tensor, Value, is_int

if TYPE_CHECKING:
    from torchsleuth.interp.calls import Arguments
    from torchsleuth.interp.interpreter import Interpreter

_SHIFTS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "mod": operator.mod,
    "remainder": operator.mod,
}
_IN_PLACE = ("iadd", "isub", "imul", "imod")


def of_factory(interp: Interpreter, name: str, call: Arguments) -> Bounds | None:
    """What ``torch.randint(0, 10, …)`` and its like hold, None where it is not known."""
    given = [interp.resolved(value) for value in call.args]
    if name in ("zeros", "ones"):
        return Bounds(0, 0, True) if name == "zeros" else Bounds(1, 1, True)
    if name in ("tensor", "as_tensor") and given:
        return _around(_elements(given[0])) or _of_draws(interp, _elements(given[0]))
    if name == "full":
        return _around([interp.resolved(call.get(1, "fill_value"))])
    if name == "randperm" and given:
        return _between(0, given[0])
    if name == "randint":
        ends = [value for value in given if is_int(value)]
        low = call.kwargs.get("low", ends[0] if len(ends) > 1 else 0)
        return _between(low, call.kwargs.get("high", ends[-1] if ends else None))
    if name == "arange" and 0 < len(given) < 3 and all(_plain(value) for value in given):
        return None if {"start", "end", "step"} & call.kwargs.keys() else _around(range(*given))
    return None


def of_draw(interp: Interpreter, name: str, call: Arguments) -> Bounds | None:
    """What ``numpy.random.randint`` draws."""
    low, high = interp.resolved(call.get(0, "low")), interp.resolved(call.get(1, "high"))
    if high is None:
        low, high = 0, low
    if "endpoint" in call.kwargs:
        return None
    return _between(low, high + 1 if name == "random_integers" and _plain(high) else high)


def _between(low: Value, high: Value) -> Bounds | None:
    """From `low` to below `high`."""
    return Bounds(low, high - 1, anywhere=True, whole=True) if _plain(low) and _plain(high) and low < high else None


def _around(numbers: list[Value] | range) -> Bounds | None:
    if not numbers or not all(_plain(number) for number in numbers):
        return None
    low, high = min(numbers), max(numbers)
    return Bounds(low, high, low == high, len(set(numbers)) == high - low + 1)


def _of_draws(interp: Interpreter, numbers: list[Value]) -> Bounds | None:
    """Numbers that are drawn, each of them from the same range."""
    ranges = {draws.bounds_of_size(interp, number) for number in numbers}
    return ranges.pop() if len(ranges) == 1 else None


def computed(name: str, args: Sequence[Value], held: Callable[[Value], Bounds | Ends | None]) -> Bounds | Ends | None:
    """What an operator makes of a range of integers and a number: ``labels + 1``, ``torch.arange(60) % 6``."""
    name = name.strip("_")
    name = name.removeprefix("i") if name in _IN_PLACE else name
    if name not in _SHIFTS or len(args) != 2 or _plain(args[0]) == _plain(args[1]):
        return None
    number, other = (args[0], args[1]) if _plain(args[0]) else (args[1], args[0])
    around = held(other)
    if around is None:
        return None
    if name in ("mod", "remainder"):
        return _remainder(around, number) if other is args[0] else None
    shift = _SHIFTS[name]
    ends = [shift(end, number) if other is args[0] else shift(number, end) for end in (around.low, around.high)]
    if isinstance(around, Ends):
        return Ends(min(ends), max(ends))
    return Bounds(min(ends), max(ends), around.anywhere, around.whole and name != "mul")


def _remainder(around: Bounds | Ends, number: int) -> Bounds | Ends | None:
    """All remainders occur where enough consecutive integers are divided."""
    if number > 0 and 0 <= around.low and around.high < number:
        return around
    whole = isinstance(around, Bounds) and around.whole and around.high - around.low + 1 >= number > 0
    return Bounds(0, number - 1, isinstance(around, Bounds) and around.anywhere, True) if whole else None


def gathered(tags: Sequence[Tags], certain: bool) -> Tags:
    """What is true of the samples of a batch, of which these are examples. `certain`: these are sure to be among them."""
    held = [next((tag for tag in one if isinstance(tag, Bounds | Ends)), None) for one in tags]
    common = frozenset.intersection(*tags)
    known = [one for one in held if one is not None]
    if not certain or any(isinstance(tag, Bounds | Ends) for tag in common) or len(known) < len(held) or not known:
        return common
    return common | {Ends(min(one.low for one in known), max(one.high for one in known))}


def joined(tensors: Sequence[Tensor]) -> Tags:
    """What is true of all the values of several tensors, put together."""
    common = frozenset.intersection(*(tensor.tags for tensor in tensors))
    bounds = [tag for tensor in tensors for tag in tensor.tags if isinstance(tag, Bounds)]
    if len(bounds) < len(tensors):
        held = [tag for tensor in tensors for tag in tensor.tags if isinstance(tag, Bounds | Ends)]
        common = frozenset(tag for tag in common if not isinstance(tag, Bounds | Ends))
        return common | {Ends(min(one.low for one in held), max(one.high for one in held))} if held else common
    alike = len(set(bounds)) == 1 and bounds[0].anywhere
    around = Bounds(min(one.low for one in bounds), max(one.high for one in bounds), alike)
    return frozenset(tag for tag in common if not isinstance(tag, Bounds | Ends)) | {around}


def padded(tags: Tags, value: Value, certain: bool) -> Tags:
    """What is true of sequences that are padded with a value; `certain`: some of them are."""
    held = [tag for tag in tags if isinstance(tag, Bounds | Ends)]
    kept = tags - frozenset(held)
    ends = [end for tag in held for end in (tag.low, tag.high)]
    if not certain or not _plain(value):
        return kept | {Ends(min(ends), max(ends))} if ends else kept
    around = min([value, *ends]), max([value, *ends])
    return kept | {Bounds(*around) if any(isinstance(tag, Bounds) for tag in held) else Ends(*around)}


_PARTS = frozenset("chunk split unbind select narrow index_select".split())


def of_part(tags: Tags, name: str, args: tuple[Value, ...]) -> Tags:
    """What is still true of the values that an operator picks: the ends of a range only if any part has them. An index
    that is not known stands for all there are."""
    fixed = name in _PARTS or (name == "getitem" and len(args) > 1 and _is_fixed(args[1]))

    def is_lost(tag: object) -> bool:
        return isinstance(tag, Ends) or (isinstance(tag, Bounds) and not tag.anywhere)

    return frozenset(tag for tag in tags if not (fixed and is_lost(tag)))


def _is_fixed(key: Value) -> bool:
    """Whether an index leaves out some elements whatever happens."""
    if isinstance(key, tuple):
        return any(map(_is_fixed, key))
    if isinstance(key, SliceValue):
        return any(end is not None for end in (key.start, key.stop, key.step))
    return isinstance(key, ListValue) or (_plain(key) and not isinstance(key, AnyIndex))


def _elements(data: Value, depth: int = 4) -> list[Value]:
    items = data.items if isinstance(data, ListValue) else data
    if not isinstance(items, tuple) or not depth:
        return [data]
    return [element for item in items for element in _elements(item, depth - 1)]


def _plain(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
