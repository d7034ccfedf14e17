"""Scalars of NumPy that are known: what its functions and operators make of numbers, as in ``int(np.log2(size)) - 2``."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

from torchsleuth.interp.library import array_dtypes, contents
from torchsleuth.sifting import as_kind
from torchsleuth.values import Array, Value, items_of

Number = int | float
LARGEST = 2**53
"""The numbers up to here are the same for NumPy and for Python."""
MOST_DIGITS = 64
"""The largest exponent."""


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > MOST_DIGITS or abs(base) > LARGEST:
        raise OverflowError
    return as_kind(base**exponent, int, float) or 0


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in "sqrt log2 ceil floor".split()},
    **dict.fromkeys(("abs", "absolute", "fabs"), abs),
    **dict.fromkeys(("round", "around", "rint"), round),
    **dict.fromkeys(("maximum", "fmax", "max"), max),
    **dict.fromkeys(("minimum", "fmin", "min"), min),
    **dict.fromkeys(("true_divide", "divide", "truediv"), operator.truediv),
    **dict.fromkeys(("floor_divide", "floordiv"), operator.floordiv),
    **dict.fromkeys(("multiply", "mul"), operator.mul),
    **dict.fromkeys(("subtract", "sub"), operator.sub),
    **dict.fromkeys(("power", "pow"), _power),
    **dict.fromkeys(("mod", "remainder"), operator.mod),
    "add": operator.add,
    "trunc": math.trunc,
    "square": lambda number: number * number,
}
"""By the name of a function of NumPy's, or of an operator: those that make the same of a number as Python's own."""
_OF_SEVERAL: dict[str, Callable[[list[Number]], Any]] = {"prod": math.prod, "sum": sum, "max": max, "min": min}
_OF_SEVERAL |= {"amax": max, "amin": min, "mean": lambda numbers: sum(numbers) / len(numbers)}


def of(value: Value) -> Number | None:
    """The number that a scalar is, or that stands for itself."""
    if isinstance(value, Array):
        known = value.slots["number"]
        known = contents.number(value) if known is None else known
        return None if isinstance(known, bool) else as_kind(known, int, float)
    return None if isinstance(value, bool) else as_kind(value, int, float)


def computed(name: str, operands: Iterable[Value], result: Value) -> Value:
    """A result of a function or an operator, with its number where it is a scalar and those of the operands are known."""
    if isinstance(result, Array) and result.spec.shape == () and result.slots["number"] is None:
        result.slots["number"] = _kept(_made(name, tuple(operands)), result.spec.dtype)
    return result


def converted(value: Value, result: Array) -> Array:
    """A scalar that a value is converted to."""
    if result.spec.shape == ():
        result.slots["number"] = _kept(of(value), result.spec.dtype)
    return result


def _made(name: str, operands: tuple[Value, ...]) -> Any:
    several = items_of(operands[0]) if len(operands) == 1 else None
    numbers = [of(value) for value in (operands if several is None else several)]
    known = [number for number in numbers if number is not None]
    function = _FUNCTIONS.get(name)
    if len(known) < len(numbers) or not known:
        return None
    try:
        if several is not None:
            return _OF_SEVERAL[name](known) if name in _OF_SEVERAL else None
        return None if function is None else function(*known)
    except (ArithmeticError, ValueError, TypeError):
        return None


def _kept(number: Any, dtype: str | None) -> Number | None:
    """A number in a scalar of a dtype that has it as it is."""
    kind = array_dtypes.kind_of(dtype) if dtype in array_dtypes.NUMERIC and dtype is not None else ""
    if not isinstance(number, int | float) or not math.isfinite(number) or abs(number) > LARGEST:
        return None
    if kind == "int":
        return int(number) if dtype in ("int64", "int32") and abs(number) < 2**31 else None
    return float(number) if dtype == "float64" else None


__all__ = ["Number", "computed", "converted", "of"]
