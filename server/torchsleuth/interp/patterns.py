"""The patterns of ``match``: whether a value fits, and what is bound."""

from __future__ import annotations

import ast
from typing import Any

from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import python, records
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.trees import captured
from torchsleuth.tensors.dims import Dim
from torchsleuth.tensors.spec import Native
from torchsleuth.values import (
    UNKNOWN,
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    Scalar,
    Shape,
    Value,
    is_native_kind,
    is_of,
    is_plain,
    is_unknown,
    items_of,
)
from torchsleuth.values.frames import Frame

Names = dict[str, Value]
_SUBJECTS = frozenset("bool bytes dict float frozenset int list set str tuple".split())
"""Builtin classes whose pattern takes the value itself: ``case str(name)``."""


def fits(interp: Interpreter, pattern: ast.pattern, subject: Value, frame: Frame, names: Names) -> bool | None:
    """Whether the pattern matches: True, False, or None where it is not known. Adds what it binds to `names`."""
    match pattern:
        case ast.MatchAs():
            verdict = True if pattern.pattern is None else fits(interp, pattern.pattern, subject, frame, names)
            if pattern.name is not None:
                names[pattern.name] = subject
            return verdict
        case ast.MatchOr():
            verdicts = [fits(interp, part, subject, frame, names) for part in pattern.patterns]
            return True if True in verdicts else None if None in verdicts else False
        case ast.MatchSingleton():
            return interp.identical(subject, pattern.value)
        case ast.MatchValue():
            test = ast.copy_location(ast.Compare(pattern.value, [ast.Eq()], [pattern.value]), pattern.value)
            wanted = interp.eval(pattern.value, frame)
            if is_unknown(subject) or is_unknown(wanted):
                return None
            kinds = {_type(subject), _type(wanted)}
            if len(kinds) > 1 and kinds.isdisjoint((None, "object")):
                return False
            return interp.truth(interp.compare(ast.Eq(), subject, wanted, test, frame))
        case ast.MatchSequence():
            return _sequence(interp, pattern, subject, frame, names)
        case ast.MatchMapping():
            return _mapping(interp, pattern, subject, frame, names)
        case ast.MatchClass():
            return _class(interp, pattern, subject, frame, names)
    _bind_unknown(pattern, names)
    return None


def _all(verdicts: list[bool | None]) -> bool | None:
    return False if False in verdicts else None if None in verdicts else True


def _bind_unknown(pattern: ast.pattern, names: Names) -> None:
    for part in ast.walk(pattern):
        if name := captured(part):
            names[name] = UNKNOWN


def _type(value: Value) -> str | None:
    """The kind of a plain value, to tell ``"relu"`` from a list without comparing."""
    if is_of(value, str):
        return "str"
    match value:
        case bool() | int() | float() | Dim() | Scalar():
            return "number"
        case tuple() | ListValue() | DictValue():
            return "container"
        case Instance() if not value.cls.opaque and not of_kind(value.cls.mro(), Native):
            return "object"
        case Function():
            return "object"
    return "None" if value is None else None


def _sequence(
    interp: Interpreter, pattern: ast.MatchSequence, subject: Value, frame: Frame, names: Names
) -> bool | None:
    items = items_of(subject)
    if items is None:
        _bind_unknown(pattern, names)
        undecided = is_unknown(subject) or isinstance(subject, ListValue | Shape)
        return None if undecided or _type(subject) is None else False
    parts = pattern.patterns
    star = next((index for index, part in enumerate(parts) if isinstance(part, ast.MatchStar)), None)
    if len(items) < len(parts) - 1 if star is not None else len(items) != len(parts):
        _bind_unknown(pattern, names)
        return False
    if star is not None:
        tail = len(parts) - star - 1
        middle = as_kind(parts[star], ast.MatchStar)
        if middle is not None and middle.name:
            names[middle.name] = ListValue(tuple(items[star : len(items) - tail]))
        items = (*items[:star], *items[len(items) - tail :])
        parts = [*parts[:star], *parts[star + 1 :]]
    return _all([fits(interp, part, item, frame, names) for part, item in zip(parts, items)])


def _mapping(interp: Interpreter, pattern: ast.MatchMapping, subject: Value, frame: Frame, names: Names) -> bool | None:
    if not isinstance(subject, DictValue) or subject.items is None:
        _bind_unknown(pattern, names)
        return None if isinstance(subject, DictValue) or _type(subject) is None else False
    keys: list[Any] = [interp.eval(key, frame) for key in pattern.keys]
    if not all(is_plain(key) for key in keys):
        _bind_unknown(pattern, names)
        return None
    if any(key not in subject.items for key in keys):
        return False
    if pattern.rest:
        names[pattern.rest] = DictValue({key: item for key, item in subject.items.items() if key not in keys})
    return _all([fits(interp, part, subject.items[key], frame, names) for key, part in zip(keys, pattern.patterns)])


def _class(interp: Interpreter, pattern: ast.MatchClass, subject: Value, frame: Frame, names: Names) -> bool | None:
    cls = interp.eval(pattern.cls, frame)
    verdicts = [python.is_instance(interp, subject, cls)]
    if verdicts[0] is False:
        return False
    positional = pattern.patterns
    if isinstance(cls, ClassValue):
        order = _match_args(interp, cls)
        if order is None and positional:
            _bind_unknown(pattern, names)
            return None
        pairs = list(zip(order or (), positional))
    elif is_native_kind(cls, "builtin") and cls.name in _SUBJECTS and len(positional) <= 1:
        verdicts += [fits(interp, part, subject, frame, names) for part in positional]
        pairs = []
    elif positional:
        _bind_unknown(pattern, names)
        return None
    else:
        pairs = []
    for name, part in [*pairs, *zip(pattern.kwd_attrs, pattern.kwd_patterns)]:
        verdicts.append(fits(interp, part, interp.attribute(subject, name, part, frame), frame, names))
    return _all(verdicts)


def _match_args(interp: Interpreter, cls: ClassValue) -> tuple[str, ...] | None:
    """The attributes that the positional parts of a class pattern stand for."""
    given = as_kind(interp.class_attribute(cls, "__match_args__"), tuple)
    if given is not None and all(isinstance(name, str) for name in given):
        return given
    return tuple(records.fields(cls)) if cls.is_dataclass or records.is_named_tuple(cls) else None
