"""Between which numbers the elements of a tensor or array lie, and of its parts; both ends can occur."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import draws
from torchsleuth.sifting import any_are, as_kind, first_of, of_kind, only
from torchsleuth.tensors.dims import Dim, Size, is_index, is_number
from torchsleuth.values import (
    AnyIndex,
    Bounds,
    Ends,
    Lengths,
    ListValue,
    Points,
    Reals,
    SliceValue,
    Tags,
    Tensor,
    Value,
    Within,
    elements_of,
    is_int,
    is_object_named,
    items_of,
    sizes_of,
    tuple_of,
)

_SHIFTS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "mod": operator.mod,
    "remainder": operator.mod,
}
_IN_PLACE = ("iadd", "isub", "imul", "imod")


def of_factory(interp: Interpreter, name: str, call: Arguments) -> Bounds | None:
    """The integers that ``torch.randint(0, 10, …)`` and its like hold, None where it is not known."""
    held = _FACTORIES.get(name)
    return None if held is None else held(interp, call, [interp.resolved(value) for value in call.args])


def of_choices(interp: Interpreter, call: Arguments) -> Within | None:
    """Between which integers those lie that ``torch.tensor([1 if one else 0 for …])`` holds."""
    numbers = sizes_of(interp.resolved(one) for one in _elements(call.args[0])) if call.args else None
    ends = [interp.heap.bounds(number) for number in numbers or ()]
    known = [one for one in ends if one is not None]
    if not known or len(known) < len(ends):
        return None
    return Within(min(low for low, _ in known), max(high for _, high in known))


def of_lengths(interp: Interpreter, call: Arguments) -> Lengths | None:
    """The sizes that ``torch.tensor([len(one) for one in batch])`` holds, some of which are not numbers."""
    numbers = sizes_of(interp.resolved(one) for one in elements_of(call.args[0]) or ()) if call.args else None
    return Lengths(frozenset(numbers)) if numbers and any_are(numbers, Dim) else None


def _of_tensor(interp: Interpreter, call: Arguments, given: list[Value]) -> Bounds | None:
    if not given:
        return None
    numbers = _elements(given[0])
    return _around(numbers) or _of_draws(interp, numbers)


def _of_randint(interp: Interpreter, call: Arguments, given: list[Value]) -> Bounds | None:
    ends = [value for value in given if is_int(value)]
    low = call.kwargs.get("low", ends[0] if len(ends) > 1 else 0)
    return _between(low, call.kwargs.get("high", ends[-1] if ends else None))


def _of_arange(interp: Interpreter, call: Arguments, given: list[Value]) -> Bounds | None:
    bounds = list(filter(is_number, given))
    if not 0 < len(bounds) == len(given) < 3:
        return None
    around = None if {"start", "end", "step"} & call.kwargs.keys() else _around(range(*bounds))
    return None if around is None else replace(around, rising=True)


_FACTORIES: dict[str, Callable[[Interpreter, Arguments, list[Value]], Bounds | None]] = {
    "zeros": lambda interp, call, given: Bounds(0, 0, True),
    "ones": lambda interp, call, given: Bounds(1, 1, True),
    "tensor": _of_tensor,
    "as_tensor": _of_tensor,
    "full": lambda interp, call, given: _around([interp.resolved(call.given(1, "fill_value"))]),
    "randperm": lambda interp, call, given: _between(0, given[0]) if given else None,
    "randint": _of_randint,
    "arange": _of_arange,
}


def of_draw(interp: Interpreter, name: str, call: Arguments) -> Bounds | None:
    """The integers that ``numpy.random.randint`` draws."""
    low, high = interp.resolved(call.given(0, "low")), interp.resolved(call.given(1, "high"))
    if high is None:
        low, high = 0, low
    if "endpoint" in call.kwargs:
        return None
    return _between(low, high + 1 if name == "random_integers" and is_number(high) else high)


def rises(interp: Interpreter, items: Sequence[Value]) -> bool:
    """Whether of these integers, one after the other, one is greater than that in front of it, for some of the draws at
    least."""
    numbers = sizes_of(interp.resolved(item) for item in items)
    return numbers is not None and any(
        one < two if isinstance(one, int) and isinstance(two, int) else draws.vary(interp, one, two)
        for one, two in itertools.pairwise(numbers)
    )


def of_reals(name: str, call: Arguments) -> Reals | Points | None:
    """The numbers that ``torch.rand(…)`` draws from, and between which those of ``torch.tensor([…])`` and linspace() lie."""
    if name in _DRAWN:
        return _DRAWN[name]
    if name in ("tensor", "as_tensor") and call.args:
        numbers = _elements(call.args[0])
        known = _reals(numbers)
        return Points(min(known), max(known)) if numbers and len(known) == len(numbers) else None
    if name == "linspace":
        start, end = call.given(0, "start"), call.given(1, "end")
        known = _reals((start, end))
        return Points(min(known), max(known)) if len(known) == 2 else None
    return None


_DRAWN = {"rand": Reals(0.0, 1.0), "randn": Reals(-2.0, 2.0, only=False)}
"""For normal numbers, those between that come up in any sample of some size."""
_SCALES: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "truediv": operator.truediv,
}
_COMMUTE = frozenset(("add", "mul"))
_SHIFT = frozenset(("add", "sub"))
_COMPARISONS = frozenset("gt ge lt le greater greater_equal less less_equal".split())


def of_drawn(
    name: str, tensors: Sequence[Tensor], args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Bounds | Reals | None:
    """The tags of the result of an operator on numbers that are drawn: on the same scale, rounded, compared, clamped,
    sorted into classes; or the places of the greatest."""
    name = name.strip("_")
    drawn = [first_of(tensor.tags, Reals) for tensor in tensors]
    if name in ("clamp", "clip"):
        return _clamped(tensors, args, kwargs)
    if name in ("argmax", "multinomial", "sample"):
        return _chosen(name, tensors, args, kwargs)
    if not drawn or drawn[0] is None:
        return None
    around = drawn[0]
    if name in ("bucketize", "searchsorted") and len(tensors) == 2:
        return _sorted_into(around, tensors[1])
    if kwargs or len(args) > 2 or len(tensors) > 1:
        return None
    if name in ("floor", "trunc", "round") and len(args) == 1:
        return _rounded(around, 0.5 if name == "round" else 0.0)
    number = as_kind(next((one for one in args if isinstance(one, float) or is_number(one)), None), int, float)
    if number is None:
        return None
    if name in _COMPARISONS:
        return Bounds(0, 1, True, True) if around.low < number < around.high else None
    scaled = name in _SCALES and (args[0] is tensors[0] or name in _COMMUTE)
    if not scaled or (number <= 0 and name not in _SHIFT):
        return None
    return Reals(_SCALES[name](around.low, number), _SCALES[name](around.high, number), around.only)


def _chosen(
    name: str, tensors: Sequence[Tensor], args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Bounds | None:
    """The places that are chosen out of scores or probabilities."""
    if name == "argmax":
        return _places(tensors, args, kwargs)
    is_choice = name == "multinomial" or _is_categorical(args)
    return _any_place(tensors[0], -1) if is_choice and tensors else None


def _rounded(around: Reals, up: float) -> Bounds | None:
    """Down to integers where `up` is 0, to the nearest ones where it is 0.5."""
    if not around.only or around.low < 0:
        return None
    return Bounds(math.floor(around.low + up), math.ceil(around.high + up) - 1, True, True)


def _clamped(tensors: Sequence[Tensor], args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Bounds | None:
    held = [first_of(tensor.tags, Bounds) for tensor in tensors]
    low, high = (kwargs.get(key, args[at] if len(args) > at else None) for at, key in ((1, "min"), (2, "max")))
    around = held[0] if len(tensors) == 1 else None
    if around is None:
        return None
    low, high = around.low if low is None else low, around.high if high is None else high
    if not is_number(low) or not is_number(high):
        return None
    ends = [min(max(end, low), high) for end in (around.low, around.high)]
    return Bounds(ends[0], ends[1], around.anywhere, around.whole)


def _sorted_into(around: Reals, edges: Tensor) -> Bounds | None:
    """The numbers of the classes that edges divide numbers into: one more than there are edges."""
    points = first_of(edges.tags, Points)
    count = as_kind(edges.spec.shape[0], int) if edges.spec.shape is not None and len(edges.spec.shape) == 1 else None
    if points is None or count is None or around.low > points.low or around.high < points.high:
        return None
    if not around.only and (around.low == points.low or around.high == points.high):
        return None
    return Bounds(int(around.low == points.low), count - int(around.high == points.high), True, True)


_MADE = frozenset("matmul mm rand randn".split())


def _places(tensors: Sequence[Tensor], args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Bounds | None:
    """Any place may be that of the greatest of numbers that are drawn, or of products of such."""
    dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
    shape = tensors[0].spec.shape if tensors else None
    if not is_number(dim) or not shape or not is_index(dim, shape):
        return None
    if not _is_made_up(tensors[0]):
        return _any_place(tensors[0], dim)
    size = as_kind(shape[dim], int)
    return Bounds(0, size - 1, True, True) if size is not None and size > 1 else None


def _is_categorical(args: tuple[Value, ...]) -> bool:
    return bool(args) and is_object_named(args[0], "Categorical")


_SCORES = frozenset("Linear LazyLinear Embedding Bilinear Conv1d linear embedding".split())
_KEEP_ORDER = frozenset(
    "softmax log_softmax Softmax LogSoftmax exp div truediv getitem view reshape squeeze unsqueeze float contiguous detach "
    "flatten cpu to select transpose permute".split()
)
_MOST_STEPS = 10


def _any_place(tensor: Tensor, dim: int) -> Bounds | None:
    """Any place along a dimension may be drawn, or may have the highest score, of the scores that a layer gives, where none
    was ruled out by a mask."""
    shape, current = tensor.spec.shape, tensor
    for _ in range(_MOST_STEPS):
        origin = current.origin
        if origin is None or current.storage.slots.get("version", 0):
            return None
        name = origin.bare_name
        if name in _SCORES:
            size = as_kind(shape[dim], int) if shape and is_index(dim, shape) else None
            width = current.spec.shape[-1] if current.spec.shape else None
            return Bounds(0, size - 1, True, True) if size is not None and size == width and size > 1 else None
        if name not in _KEEP_ORDER or not origin.sources:
            return None
        current = origin.sources[0]
    return None


def _is_made_up(tensor: Tensor) -> bool:
    origin = tensor.origin
    name = origin.name if origin is not None else ""
    if origin is None or name not in _MADE:
        return False
    return name in _DRAWN or all(_is_made_up(source) for source in origin.sources)


def converted(tags: Tags, dtype: str | None) -> Tags:
    """The tags that numbers keep when they are converted to another dtype."""
    if dtype == "bool":
        return frozenset(tag for tag in tags if not isinstance(tag, Bounds | Ends | Reals | Points | Within))
    if dtype is None or "int" not in dtype:
        return tags
    drawn = first_of(tags, Reals)
    cut_off = _rounded(drawn, 0.0) if drawn is not None else None
    kept = frozenset(tag for tag in tags if not isinstance(tag, Reals | Points))
    return kept if cut_off is None else kept | {cut_off}


def _between(low: Value, high: Value) -> Bounds | None:
    """From `low` to below `high`."""
    return (
        Bounds(low, high - 1, anywhere=True, whole=True) if is_number(low) and is_number(high) and low < high else None
    )


def _around(numbers: list[Value] | range) -> Bounds | None:
    if isinstance(numbers, range):
        ends = sorted((numbers[0], numbers[-1])) if numbers else []
        return Bounds(ends[0], ends[1], ends[0] == ends[1], abs(numbers.step) == 1) if ends else None
    known = list(filter(is_number, numbers))
    if not numbers or len(known) < len(numbers):
        return None
    low, high = min(known), max(known)
    return Bounds(low, high, low == high, len(set(known)) == high - low + 1)


def _of_draws(interp: Interpreter, numbers: list[Value]) -> Bounds | None:
    """Numbers that are drawn, each of them from the same range."""
    ranges = {draws.bounds_of_size(interp, number) for number in numbers}
    return only(ranges)


def computed(name: str, args: Sequence[Value], held: Callable[[Value], Bounds | Ends | None]) -> Bounds | Ends | None:
    """The range that an operator makes of a range of integers and a number: ``labels + 1``, ``torch.arange(60) % 6``."""
    name = name.strip("_")
    name = name.removeprefix("i") if name in _IN_PLACE else name
    if name not in _SHIFTS or len(args) != 2 or is_number(args[0]) == is_number(args[1]):
        return None
    number, other = (args[0], args[1]) if is_number(args[0]) else (args[1], args[0])
    around = held(other)
    if around is None or not is_number(number):
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
    """The tags of the samples of a batch, of which these are examples. `certain`: these are sure to be among them."""
    held = [first_of(one, Bounds, Ends) or _ends(first_of(one, Points)) for one in tags]
    common = frozenset.intersection(*tags)
    known = [one for one in held if one is not None]
    if not certain or any_are(common, Bounds, Ends) or len(known) < len(held) or not known:
        return common
    return common | {Ends(min(one.low for one in known), max(one.high for one in known))}


def _ends(points: Points | None) -> Ends | None:
    """The whole numbers that a tensor of a floating dtype was made of: ``torch.tensor(1, dtype=torch.float32)``."""
    if points is None or points.low != int(points.low) or points.high != int(points.high):
        return None
    return Ends(int(points.low), int(points.high))


def joined(tensors: Sequence[Tensor]) -> Tags:
    """The tags of all the values of several tensors, put together."""
    common = frozenset.intersection(*(tensor.tags for tensor in tensors))
    bounds = [tag for tensor in tensors for tag in of_kind(tensor.tags, Bounds)]
    if len(bounds) < len(tensors):
        held = [tag for tensor in tensors for tag in of_kind(tensor.tags, Bounds, Ends)]
        common = frozenset(tag for tag in common if not isinstance(tag, Bounds | Ends))
        return common | {Ends(min(one.low for one in held), max(one.high for one in held))} if held else common
    alike = len(set(bounds)) == 1 and bounds[0].anywhere
    around = Bounds(min(one.low for one in bounds), max(one.high for one in bounds), alike)
    return frozenset(tag for tag in common if not isinstance(tag, Bounds | Ends)) | {around}


def padded(tags: Tags, value: Value, certain: bool) -> Tags:
    """The tags of sequences that are padded with a value; `certain`: some of them are."""
    held = of_kind(tags, Bounds, Ends)
    kept = tags - frozenset(held)
    ends = [end for tag in held for end in (tag.low, tag.high)]
    if not certain or not is_number(value):
        return kept | {Ends(min(ends), max(ends))} if ends else kept
    around = min([value, *ends]), max([value, *ends])
    return kept | {Ends(*around, behind=True)}


Rest = tuple[int, frozenset[tuple[int, ...]]]
"""A number that a tensor was filled with, and those of its corners that still hold it."""
MAX_RANK = 5


def rest(container: Tensor, shape: tuple[Size, ...] | None, key: Value) -> Rest | None:
    """The tags that a tensor of one number keeps when a part of the tensor is written to; None where that is not known."""
    held = first_of(container.tags, Bounds, Ends)
    if held is None or (isinstance(held, Bounds) and held.low != held.high) or not shape or len(shape) > MAX_RANK:
        return None
    sizes = [size for size in of_kind(shape, int) if size]
    if len(sizes) < len(shape):
        return None
    number = held.low
    if isinstance(held, Bounds):
        corners = frozenset(itertools.product(*({0, size - 1} for size in sizes)))
    else:
        before: Value = container.slots.get("rest") or (held.low - 1, frozenset())
        if not isinstance(before, tuple):
            return None  # What two branches have left differs.
        number, corners = before
        if number not in (held.low, held.high):
            return None
    parts = _per_dimension(key, len(shape))
    left = frozenset(corner for corner in corners if not all(_covers(*one) for one in zip(parts, corner, sizes)))
    return (number, left) if left else None


def _per_dimension(key: Value, rank: int) -> list[Value]:
    """An index for each dimension; all of it where the index says nothing of it."""
    parts = list(tuple_of(key))
    if any(part is None for part in parts) or parts.count(...) > 1 or any_are(parts, Tensor):
        return [...] * rank
    place = parts.index(...) if ... in parts else len(parts)
    behind = parts[place + 1 :]
    return [*parts[:place], *[...] * (rank - place - len(behind)), *behind]


def _covers(part: Value, place: int, size: int) -> bool:
    """Whether an index may mean a place of its dimension."""
    if is_number(part) and not isinstance(part, AnyIndex):
        return bool(part % size == place)
    if isinstance(part, SliceValue):
        ends = (part.start, part.stop, part.step)
        if all(end is None or (is_number(end) and not isinstance(end, AnyIndex)) for end in ends) and part.step != 0:
            return place in range(*slice(*ends).indices(size))
    return True


_PARTS = frozenset("chunk split unbind select narrow index_select".split())


def of_part(tags: Tags, name: str, args: tuple[Value, ...]) -> Tags:
    """The tags of the values that an operator picks: the ends of a range only if any part has them. An index
    that is not known stands for all there are."""
    if name in ("getitem", "index_select") and any(_selects(one) for key in args[1:] for one in tuple_of(key)):
        return frozenset(tag for tag in tags if not isinstance(tag, Bounds | Ends | Points))
    if name == "getitem" and len(args) == 2 and isinstance(args[0], Tensor):
        stretch = _stretch(tags, args[0].spec.shape, args[1])
        if stretch is not None:
            return frozenset({stretch})
    if name in _TURNED:
        tags = frozenset(replace(tag, rising=False) if isinstance(tag, Bounds) else tag for tag in tags)
    fixed = name in _PARTS or (name == "getitem" and len(args) > 1 and _is_fixed(args[1]))

    shifted = name == "getitem" and len(args) > 1 and all(map(_shifts, tuple_of(args[1])))

    def is_lost(tag: object) -> bool:
        if isinstance(tag, Ends) and tag.behind and shifted:
            return False
        return isinstance(tag, Ends | Points) or (isinstance(tag, Bounds) and not tag.anywhere)

    return frozenset(tag for tag in tags if not (fixed and is_lost(tag)))


_TURNED = frozenset("flip roll repeat tile repeat_interleave".split())


def _stretch(tags: Tags, shape: tuple[Size, ...] | None, key: Value) -> Bounds | None:
    """The numbers of a part of ``arange()``: ``position_ids[:, :length]``."""
    around = next((tag for tag in of_kind(tags, Bounds) if tag.rising), None)
    long = [axis for axis, size in enumerate(shape or ()) if size != 1]
    keys = [part for part in tuple_of(key) if part is not None]
    if around is None or len(long) != 1 or shape is None or shape[long[0]] != around.high - around.low + 1:
        return None
    if len(keys) > len(shape) or not all(isinstance(part, SliceValue) or is_number(part) for part in keys):
        return None
    part = keys[long[0]] if long[0] < len(keys) else SliceValue(None, None, None)
    if not isinstance(part, SliceValue):
        return None
    ends = (part.start, part.stop, part.step)
    known = [end for end in ends if end is None or is_number(end)]
    if part.step not in (None, 1) or len(known) < len(ends):
        return None
    left = range(around.low, around.high + 1)[slice(*known)]
    return Bounds(left[0], left[-1], rising=True) if left else None


def _selects(key: Value) -> bool:
    """Whether an index is a mask, or positions that were found out: they may leave out just those numbers."""
    return isinstance(key, Tensor) and not any_are(key.tags, Bounds)


def _is_fixed(key: Value) -> bool:
    """Whether an index leaves out some elements whatever happens."""
    match key:
        case tuple():
            return any(map(_is_fixed, key))
        case SliceValue():
            return any(end is not None for end in (key.start, key.stop, key.step))
    return isinstance(key, ListValue) or (is_number(key) and not isinstance(key, AnyIndex))


def _shifts(key: Value) -> bool:
    """Whether an index leaves out no more than the first or the last element: ``[:, :-1]``."""
    if not isinstance(key, SliceValue):
        return key is None or key is ...
    return key.start in (None, 0, 1) and key.stop in (None, -1) and key.step is None


def _elements(data: Value, depth: int = 4) -> list[Value]:
    items = items_of(data)
    if items is None or not depth:
        return [data]
    return [element for item in items for element in _elements(item, depth - 1)]


def _reals(values: Iterable[Value]) -> list[float]:
    """The numbers among these values."""
    return [value for value in values if isinstance(value, float) or is_number(value)]
