"""Methods of strings: run where all is known, else what kind of value they give."""

from __future__ import annotations

import string
from typing import Any

from torchsleuth.interp import limits
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import draws
from torchsleuth.sifting import all_are, of_kind
from torchsleuth.values import UNKNOWN, ListValue, Scalar, Several, Value, is_plain
from torchsleuth.values.join import kind_of, text_sizes

_TEXTS = frozenset(
    "lower upper strip lstrip rstrip replace join title capitalize casefold swapcase format format_map removeprefix "
    "removesuffix zfill ljust rjust center expandtabs translate".split()
)
_CASES = frozenset("lower upper title capitalize swapcase".split())
_SAME_WORDS = _CASES | {"strip", "lstrip", "rstrip"}
_TRUTHS = frozenset(
    "startswith endswith isdigit isalpha isalnum isascii isdecimal islower isnumeric isspace istitle isupper "
    "isidentifier isprintable".split()
)
_LISTS = frozenset("split rsplit splitlines".split())
_TRIPLES = frozenset("partition rpartition".split())
_PLACES = frozenset("index rindex".split())
_NUMBERS = frozenset("find rfind count".split())
_FORMS = frozenset({"format", "format_map"})
_ALL = _TEXTS | _TRUTHS | _LISTS | _TRIPLES | _PLACES | _NUMBERS | {"encode"}


def method(interp: Interpreter, receiver: str | Scalar, name: str, call: Arguments) -> Value:
    """``receiver.name(…)``."""
    args = [_plain(value) for value in call.args]
    if isinstance(receiver, str) and name in _ALL and not call.kwargs and UNKNOWN not in args:
        if limits.length_of(receiver, name, args) > limits.MAX_TEXT or (name in _FORMS and _reaches(receiver)):
            return Scalar("str")
        try:
            result = getattr(receiver, name)(*args)
        except (TypeError, ValueError, IndexError, KeyError):
            return UNKNOWN
        if isinstance(result, list):
            return ListValue(tuple(result) if len(result) <= limits.MAX_ELEMENTS else Several((Scalar("str"),)))
        return result
    if name == "join" and isinstance(receiver, str) and call.args:
        return _joined(interp, receiver, call)
    if name in _TEXTS:
        length, words = text_sizes(receiver)
        same = not call.args and name in _SAME_WORDS
        return Scalar("str", length=length if name in _CASES else None, words=words if same else None)
    if name in _TRUTHS:
        return Scalar("bool")
    if name in _LISTS:
        plain = name == "split" and not call.args and not call.kwargs
        return ListValue(Several.counted((Scalar("str"),), text_sizes(receiver)[1] if plain else None))
    if name in _TRIPLES:
        return (Scalar("str"),) * 3
    if name in _PLACES:
        known = isinstance(receiver, str) and bool(receiver) and len(call.args) == 1
        return draws.between(interp, 0, len(receiver) - 1) if known else _count(interp)  # type: ignore[arg-type]
    return _count(interp) if name in _NUMBERS else UNKNOWN


def _reaches(template: str) -> bool:
    """Whether a template asks for attributes or items of what it is given: ``{0.__class__}``."""
    try:
        return any(field and ("." in field or "[" in field) for _, field, _, _ in string.Formatter().parse(template))
    except ValueError:
        return True


def _joined(interp: Interpreter, between: str, call: Arguments) -> Value:
    """A text of which the number of its parts is known: of characters, or of words with a space between them."""
    parts = interp.iterate(call.args[0], call.node, call.frame)
    texts = [part for part in of_kind(parts.items, str, Scalar) if kind_of(part) == ("str",)]
    if parts.count is None or len(texts) < len(parts.items):
        return Scalar("str")
    sizes = [text_sizes(part) for part in texts]
    length = parts.count if not between and all(length == 1 for length, _ in sizes) else None
    words = parts.count if between.isspace() and all(words == 1 for _, words in sizes) else None
    return Scalar("str", length=length, words=words)


def _count(interp: Interpreter) -> Value:
    return interp.fresh_size("?", positive=False)


def _plain(value: Value) -> Any:
    """An argument as Python takes it, UNKNOWN where it is not known."""
    match value:
        case ListValue():
            known = value.items is not None and all_are(value.items, str)
            return list(value.items or ()) if known else UNKNOWN
        case tuple():
            items = tuple(map(_plain, value))
            return UNKNOWN if UNKNOWN in items else items
    return value if is_plain(value) else UNKNOWN


__all__ = ["method"]
