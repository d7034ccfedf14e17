"""Arithmetic and comparison of plain Python values and of those that are not known but for their type."""

from __future__ import annotations

import math
import operator
from typing import Any

from torchsleuth.interp import limits
from torchsleuth.sifting import all_are, of_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim
from torchsleuth.values import UNKNOWN, Scalar, Value, is_int, tuple_of

NUMBERS = (bool, int, float, complex)
MAX_SEQUENCE = 4096
"""Elements a list or range may have before it is treated as unknown."""


def formatted(template: str, values: Value) -> Value:
    """``"block%d" % number``"""
    given = tuple_of(values)
    known = all_are(given, str, int, float)
    if not known or len(template) > MAX_SEQUENCE or limits.fills(template) or "*" in template:
        return Scalar("str")
    try:
        text = template % values
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN
    return text if len(text) <= MAX_SEQUENCE else Scalar("str")


def arithmetic(name: str, left: Value, right: Value) -> Value:
    """The result of an operator on two numbers, UNKNOWN where Python refuses it. Raises ZeroDivisionError."""
    try:
        value = limits.computed(name, left, right)
    except ZeroDivisionError:
        raise
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN
    return UNKNOWN if isinstance(value, float) and math.isnan(value) else value


def scalar_arithmetic(left: Value, right: Value) -> Value:
    kinds = (*NUMBERS, Scalar, Dim)
    if isinstance(left, kinds) and isinstance(right, kinds):
        if Scalar("str") in (left, right):
            return UNKNOWN
        if Scalar("float") not in (left, right) and not isinstance(left, float) and not isinstance(right, float):
            # Of numbers that may be integers, and of booleans, the sum may be one too.
            return UNKNOWN
        return Scalar("float", next((side.cut for side in of_kind((left, right), Scalar) if side.cut), None))
    if isinstance(left, str) or isinstance(right, str):
        return Scalar("str", made_of=(left, right))
    return UNKNOWN


def compare_sizes(name: str, left: Any, right: Any) -> Value:
    same = dims.equal(left, right)
    if name in ("eq", "ne"):
        return Scalar("bool") if same is None else same == (name == "eq")
    sign = dims.positive(dims.subtract(left, right))
    if sign is None:
        return Scalar("bool")
    return bool(getattr(operator, name)(sign, 0))


def compare_parts(left: Value, right: Value) -> bool | None:
    if is_int(left) and is_int(right):
        return dims.equal(left, right)
    plain = (bool, int, float, str, type(None))
    return left == right if isinstance(left, plain) and isinstance(right, plain) else None
