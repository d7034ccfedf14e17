"""Between which integers the elements of a new tensor or array lie; both ends can occur."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchsleuth.interp.values import Bounds, ListValue, Value, is_int

if TYPE_CHECKING:
    from torchsleuth.interp.calls import Arguments
    from torchsleuth.interp.interpreter import Interpreter


def of_factory(interp: Interpreter, name: str, call: Arguments) -> Bounds | None:
    """What ``torch.randint(0, 10, …)`` and its like hold, None where it is not known."""
    given = [interp.resolved(value) for value in call.args]
    if name in ("zeros", "ones"):
        return Bounds(0, 0) if name == "zeros" else Bounds(1, 1)
    if name in ("tensor", "as_tensor") and given:
        return _around(_elements(given[0]))
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
    return Bounds(low, high - 1) if _plain(low) and _plain(high) and low < high else None


def _around(numbers: list[Value] | range) -> Bounds | None:
    return Bounds(min(numbers), max(numbers)) if numbers and all(_plain(number) for number in numbers) else None


def _elements(data: Value, depth: int = 4) -> list[Value]:
    items = data.items if isinstance(data, ListValue) else data
    if not isinstance(items, tuple) or not depth:
        return [data]
    return [element for item in items for element in _elements(item, depth - 1)]


def _plain(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
