"""Random integers: sizes between known bounds that are drawn anew each time, and the proof that two sizes differ."""

from __future__ import annotations

import math
from itertools import product

from torchsleuth.interp.interface import Interpreter
from torchsleuth.sifting import first_of
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, Symbol, is_number
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import Array, Bounds, Element, Scalar, SliceValue, Tensor, Value, is_int, sizes_of

MAX_SYMBOLS = 4
"""Draws in one size that are followed."""


def draw(interp: Interpreter, low: int, high: int, name: str = "n") -> Size:
    """A random integer from `low` to `high`, both included."""
    if low >= high:
        return low if low == high else interp.fresh_size("?", positive=False)
    symbol = interp.fresh_symbol(name, low > 0)
    interp.numbers.drawn[symbol] = (low, high)
    return dims.of(symbol)


_SUMS = {"add": dims.add, "sub": dims.subtract, "mul": dims.multiply}


def computed(interp: Interpreter, name: str, left: Value, right: Value, result: Value) -> Value:
    """Remember which integer the result of an operator on single integers holds."""
    operator = _SUMS.get(name)
    if operator is not None and isinstance(result, Tensor | Array) and _is_single(interp, result):
        sides = sizes_of(plain_number(interp, interp.resolved(side)) for side in (left, right))
        if (result.spec.dtype or "").startswith("int") and sides is not None:
            version = result.storage.slots["version"] if isinstance(result, Tensor) else 0
            interp.numbers.computed[result.identity, version] = operator(sides[0], sides[1])
    return result


def between(interp: Interpreter, low: int, high: int) -> Size:
    """An integer of which only the bounds are known."""
    if low == high:
        return low
    symbol = interp.fresh_symbol("?", low > 0)
    interp.numbers.ranges[symbol] = (low, high)
    return dims.of(symbol)


def limited(interp: Interpreter, low: Size, high: Size) -> Size:
    """A random integer from `low` to `high`, both included, which depend on other sizes."""
    symbol = interp.fresh_symbol("n", at_least(interp, low) > 0)
    interp.numbers.limits[symbol] = (low, high)
    return dims.of(symbol)


def drawn_between(interp: Interpreter, low: Size, high: Size) -> Size:
    """A random integer from `low` to `high`, both included, which may depend on other sizes."""
    if isinstance(low, int) and isinstance(high, int):
        return draw(interp, low, high)
    return limited(interp, low, high)


def vary(interp: Interpreter, left: Size, right: Size) -> bool:
    """Whether two sizes are known to differ, or known to differ for some of the draws in them."""
    difference = dims.subtract(interp.resolved(left), interp.resolved(right))
    if isinstance(difference, int):
        return difference != 0
    symbols: list[Symbol] = list(dict.fromkeys(dims.symbols(difference)))
    if len(symbols) > MAX_SYMBOLS or any(symbol not in interp.numbers.drawn for symbol in symbols):
        return False
    for values in product(*(interp.numbers.drawn[symbol] for symbol in symbols)):
        value = dims.substitute(difference, dict(zip(symbols, values)))
        if value != 0:
            return True
    return False


def differences(interp: Interpreter, left: TensorSpec, right: TensorSpec) -> tuple[int, ...] | None:
    """The dimensions in which two tensors are known to differ, None where their number does."""
    if left.shape is None or right.shape is None:
        return ()
    if len(left.shape) != len(right.shape):
        return None
    pairs = enumerate(zip(left.shape, right.shape))
    return tuple(place for place, (a, b) in pairs if vary(interp, a, b))


def place_of(value: Tensor | Array) -> int | Element:
    """Which element of what a value is, or the identity of one that is not known to be an element."""
    if isinstance(value, Array):
        found: Element | None = value.slots.get("element")
    else:
        found = first_of(value.tags, Element)
    return value.identity if found is None else found


def at_least(interp: Interpreter, size: Size) -> float:
    """The least that a sum of integers can be; minus infinity where that is not known."""
    for symbol in () if isinstance(size, int) else dict.fromkeys(dims.symbols(size)):
        if symbol in interp.numbers.limits and not isinstance(size, int):
            coefficient = dict(size.terms).get(((symbol, 1),), 0)
            if symbol in dims.symbols(dims.subtract(size, dims.multiply(coefficient, dims.of(symbol)))):
                continue  # it stands in a product, too
            low, high = map(interp.resolved, interp.numbers.limits[symbol])
            size = dims.substitute(size, {symbol: high if coefficient < 0 else low})
    if isinstance(size, int):
        return size
    least = 0.0
    for monomial, coefficient in size.terms:
        if not monomial:
            least += coefficient
            continue
        (atom, power), *more = monomial
        if more or power != 1 or not isinstance(atom, Symbol):
            return -math.inf
        lowest = 1 if atom.positive else -math.inf
        ends: tuple[float, float] = (
            interp.numbers.drawn.get(atom) or interp.numbers.ranges.get(atom) or (lowest, math.inf)
        )
        least += min(coefficient * end for end in ends)
    return least


def at_most(interp: Interpreter, left: Size, right: Size) -> bool:
    """Whether one size is known to be no greater than another."""
    difference = dims.subtract(right, left)
    return dims.positive(difference) in (0, 1) or at_least(interp, difference) >= 0


def sliced(interp: Interpreter, part: SliceValue, size: Size) -> Size | None:
    """How many elements ``x[start:stop]`` takes of so many: where it is known that there are enough of them, or how many there are is
    drawn."""
    start = 0 if part.start is None else interp.resolved(part.start)
    stop = size if part.stop is None else interp.resolved(part.stop)
    if part.step not in (None, 1) or not is_int(start) or not is_int(stop):
        return None
    # From the end.
    start, stop = (dims.add(size, end) if isinstance(end, int) and end < 0 else end for end in (start, stop))
    ordered = at_most(interp, 0, start) and at_most(interp, start, stop)
    if ordered and at_most(interp, stop, size):
        return dims.subtract(stop, start)
    if ordered and is_drawn(interp, size):
        return dims.extremum("max", 0, dims.subtract(dims.extremum("min", size, stop), start))
    return None


def is_drawn(interp: Interpreter, size: Size) -> bool:
    """Whether a size depends on random integers alone."""
    return not isinstance(size, int) and all(symbol in interp.numbers.drawn for symbol in dims.symbols(size))


def bounds_of(value: Tensor | Array) -> Bounds | None:
    """Between which integers the elements lie, where that is known."""
    if isinstance(value, Array):
        bounds: Bounds | None = value.slots.get("bounds")
        return bounds
    return first_of(value.tags, Bounds)


def bounds_of_size(interp: Interpreter, size: Value) -> Bounds | None:
    """Between which integers a random one lies: a number that was drawn, with others added, or a multiple of it."""
    if is_number(size):
        return Bounds(size, size, True, True)
    symbols = dims.symbols(size) if isinstance(size, dims.Dim) else []
    if not isinstance(size, dims.Dim) or len(symbols) != 1 or symbols[0] not in interp.numbers.drawn:
        return None
    low, high = interp.numbers.drawn[symbols[0]]
    first, next_, last = (dims.substitute(size, {symbols[0]: value}) for value in (low, low + 1, high))
    if not isinstance(first, int) or not isinstance(next_, int) or not isinstance(last, int):
        return None
    step = next_ - first
    if last != first + step * (high - low):
        return None  # not linear, or whole by chance
    return Bounds(min(first, last), max(first, last), True, abs(step) == 1)


def number(interp: Interpreter, value: Tensor | Array, place: int | Element | None = None) -> Size:
    """The integer in a tensor or array of one element, or at a place of a larger one: the same one whenever it is read."""
    bounds = bounds_of(value)
    version = value.storage.slots["version"] if isinstance(value, Tensor) else 0
    known = interp.numbers.computed.get((value.identity, version)) if place is None else None
    if known is not None or bounds is None:
        return interp.fresh_size("n", positive=False) if known is None else known
    place = place_of(value) if place is None else place
    if place not in interp.numbers.elements:
        interp.numbers.elements[place] = draw(interp, bounds.low, bounds.high)
    return interp.numbers.elements[place]


def mark(container: Tensor | Array, key: Value, element: Value, interp: Interpreter) -> Value:
    """Remember of an element which one it is."""
    if is_number(key) and bounds_of(container) is not None:
        place = Element(place_of(container), key)
        match element:
            case Array():
                element.slots["element"] = place
            case Tensor():
                others = {tag for tag in element.tags if not isinstance(tag, Element)}
                interp.heap.set(element.slots, "tags", frozenset({*others, place}))
    return element


def _is_single(interp: Interpreter, value: Tensor | Array) -> bool:
    """Whether a tensor has one element, and so is as good as a number; of arrays, one without dimensions."""
    shape = interp.resolved_spec(value.spec).shape
    return shape == () or isinstance(value, Tensor) and shape is not None and all(size == 1 for size in shape)


def plain_number(interp: Interpreter, value: Value) -> Value:
    """The Python number that a value is as good as, where it is a tensor or array of one integer; else itself."""
    if not isinstance(value, Tensor | Array) or not _is_single(interp, value):
        return value
    dtype = value.spec.dtype
    if dtype is not None and dtype.startswith(("int", "uint")):
        return number(interp, value)
    return Scalar("float") if isinstance(value, Array) and dtype is not None and dtype.startswith("float") else value
