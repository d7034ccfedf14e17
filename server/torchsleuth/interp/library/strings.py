"""Methods of strings: run where all is known, else what kind of value they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchsleuth.interp.library import draws
from torchsleuth.interp.values import UNKNOWN, ListValue, Scalar, Several, Value

if TYPE_CHECKING:
    from torchsleuth.interp.calls import Arguments
    from torchsleuth.interp.interpreter import Interpreter

_TEXTS = frozenset(
    "lower upper strip lstrip rstrip replace join title capitalize casefold swapcase format format_map removeprefix "
    "removesuffix zfill ljust rjust center expandtabs translate".split()
)
_TRUTHS = frozenset(
    "startswith endswith isdigit isalpha isalnum isascii isdecimal islower isnumeric isspace istitle isupper "
    "isidentifier isprintable".split()
)
_LISTS = frozenset("split rsplit splitlines".split())
_TRIPLES = frozenset("partition rpartition".split())
_PLACES = frozenset("index rindex".split())
_NUMBERS = frozenset("find rfind count".split())
_ALL = _TEXTS | _TRUTHS | _LISTS | _TRIPLES | _PLACES | _NUMBERS | {"encode"}


def method(interp: Interpreter, receiver: str | Scalar, name: str, call: Arguments) -> Value:
    """``receiver.name(…)``."""
    args = [_plain(value) for value in call.args]
    if isinstance(receiver, str) and name in _ALL and not call.kwargs and UNKNOWN not in args:
        try:
            result = getattr(receiver, name)(*args)
        except (TypeError, ValueError, IndexError, KeyError):
            return UNKNOWN
        return ListValue(tuple(result)) if isinstance(result, list) else result
    if name in _TEXTS:
        return Scalar("str")
    if name in _TRUTHS:
        return Scalar("bool")
    if name in _LISTS:
        return ListValue(Several((Scalar("str"),)))
    if name in _TRIPLES:
        return (Scalar("str"),) * 3
    if name in _PLACES:
        known = isinstance(receiver, str) and bool(receiver) and len(call.args) == 1
        return draws.between(interp, 0, len(receiver) - 1) if known else _count(interp)  # type: ignore[arg-type]
    return _count(interp) if name in _NUMBERS else UNKNOWN


def _count(interp: Interpreter) -> Value:
    return interp.fresh_size("?", positive=False)


def _plain(value: Value) -> Any:
    """An argument as Python takes it, UNKNOWN where it is not known."""
    if isinstance(value, ListValue):
        known = value.items is not None and all(isinstance(item, str) for item in value.items)
        return list(value.items or ()) if known else UNKNOWN
    return value if isinstance(value, str | int | float | bool | type(None) | tuple) else UNKNOWN


__all__ = ["method"]
