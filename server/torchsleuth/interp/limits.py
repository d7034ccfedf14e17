"""How large the values are that the interpreter works with. What is larger is not known: it would take time or memory to make,
and nothing follows from it."""

from __future__ import annotations

import operator
from typing import Any

from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.values import UNKNOWN, DictValue, ListValue, Scalar, Value, is_tuple

MAX_BITS = 4096
"""Of an integer."""
MAX_TEXT = 1 << 20
"""Characters of a text, or bytes."""
MAX_ELEMENTS = 1 << 16
"""Elements of a tuple."""
MAX_PARTS = 100_000
"""Elements of a tree of containers, each counted as often as it stands there: what a comparison of two goes through."""


def bounded(value: Value) -> Value:
    """A value that is small enough to go on with, and otherwise what is still known of it."""
    if type(value) is int:
        return value if value.bit_length() <= MAX_BITS else UNKNOWN
    if type(value) is str:
        return value if len(value) <= MAX_TEXT else Scalar("str")
    if type(value) is bytes:
        return value if len(value) <= MAX_TEXT else UNKNOWN
    if is_tuple(value):
        return value if len(value) <= MAX_ELEMENTS else UNKNOWN
    return value


BOUNDED = frozenset({int, str, bytes, tuple})
"""Types of values that may grow without bound."""


def is_large(value: Value) -> bool:
    """Whether a container has more parts than can be gone through, such as one that holds itself."""
    waiting, count = [value], 0
    while waiting:
        one = waiting.pop()
        items = as_kind(one, tuple) or ()
        match one:
            case ListValue():
                items = one.elements or ()
            case DictValue():
                items = one.elements
        count += len(items)
        if count > MAX_PARTS:
            return True
        waiting += [item for item in items if isinstance(item, tuple | ListValue | DictValue)]
    return False


def takes_long(name: str, left: Any, right: Any) -> bool:
    """Whether an operator of Python makes something large of two numbers."""
    if name == "pow":
        exponent = abs(right) if not isinstance(right, complex) else 0
        return bool(exponent > 512) or (isinstance(left, int) and left.bit_length() * exponent > MAX_BITS)
    if name == "lshift":
        return isinstance(right, int) and (
            right > 64 or (isinstance(left, int) and left.bit_length() + right > MAX_BITS)
        )
    if isinstance(left, int) and isinstance(right, int):
        return max(left.bit_length(), right.bit_length()) > MAX_BITS
    return False


def computed(name: str, left: Any, right: Any) -> Value:
    """The result of an operator of Python on two numbers. Raises what it raises."""
    return UNKNOWN if takes_long(name, left, right) else bounded(getattr(operator, name)(left, right))


def length_of(text: str, name: str, args: list[Any]) -> int:
    """How long what a method makes of a text may become."""
    given = [len(part) for arg in args for part in (of_kind(arg if isinstance(arg, list | tuple) else (arg,), str))]
    widths = [abs(arg) for arg in of_kind(args, int)]
    if name in ("replace", "join", "translate"):
        parts = sum(len(arg) for arg in of_kind(args, list, tuple))
        return (len(text) + 1) * (max(given, default=0) + 1) if name != "join" else sum(given) + len(text) * parts
    if name in ("center", "ljust", "rjust", "zfill"):
        return len(text) + max(widths, default=0)
    if name == "expandtabs":
        return len(text) * (max(widths, default=8) + 1)
    if name in ("format", "format_map"):
        return len(text) * (1 + sum(given)) + _widths(text) + sum(widths) * ("{" in text.partition("{")[2])
    return len(text) + sum(given)


def _widths(template: str) -> int:
    """The greatest number that is written in a text: a width or a precision may be as great."""
    digits, largest = 0, 0
    for character in template:
        if not character.isdigit():
            digits = 0
            continue
        digits = min(10 * digits + int(character), 10**12)
        largest = max(largest, digits)
    return largest


def fills(template: str) -> bool:
    """Whether a text with placeholders asks for more characters than a text may have."""
    return _widths(template) > MAX_TEXT


__all__ = ["BOUNDED", "MAX_BITS", "MAX_TEXT", "bounded", "computed", "fills", "is_large", "length_of", "takes_long"]
