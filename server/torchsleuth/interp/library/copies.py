"""copy.copy and copy.deepcopy: objects with an identity of their own."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, TypeVar

from torchsleuth.interp.library import contents
from torchsleuth.sifting import as_kind
from torchsleuth.values import (
    Array,
    ClassValue,
    DictValue,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Ref,
    Tensor,
    Value,
    new_identity,
)
from torchsleuth.values.graph import node_of

R = TypeVar("R", bound=Ref)


def shallow(value: Value) -> Value:
    """An object of its own that holds the same things."""
    return value if not isinstance(value, Ref) or isinstance(value, ClassValue) else _again(value)


def _again(value: R) -> R:
    made = copy.copy(value)
    made.identity = new_identity()
    made.slots = type(value.slots)(value.slots)
    if isinstance(made, Array):
        made.slots["content"] = contents.copied(made)
    if isinstance(made, Instance):
        made.state = dict(made.state)
    return made


def deep(value: Value, memo: dict[int, Value] | None = None) -> Value:
    """An object of its own that holds copies of everything."""
    memo = {} if memo is None else memo
    match value:
        case tuple():
            items = tuple(deep(item, memo) for item in value)
            return _like(value, items)
        case dict():
            return {key: deep(item, memo) for key, item in value.items()}
    if not isinstance(value, Ref) or isinstance(value, ClassValue):
        return value
    if value.identity not in memo:
        made = memo[value.identity] = _again(value)
        for name, item in value.slots.items():
            made.slots[name] = deep(item, memo)
        match made:
            case Instance():
                native = deep(made.native, memo)
                made.native = as_kind(native, LibraryModule, LibraryObject)
            case Tensor():
                made.storage = Ref()
            case Array():
                made.slots["content"] = contents.copied(made)
    return memo[value.identity]


def refused(value: Value, seen: set[int] | None = None) -> Tensor | None:
    """A tensor in an object that deepcopy() refuses: one that was computed with gradients."""
    seen = set() if seen is None else seen
    parts: Iterable[Value] = ()
    if isinstance(value, Tensor):
        return value if value.spec.requires_grad is True and _is_computed(value) else None
    match value:
        case tuple():
            parts = value
        case ListValue() | DictValue():
            parts = (value.items or ()) if isinstance(value, ListValue) else (value.items or {}).values()
        case Instance():
            known = isinstance(value.cls, ClassValue) and not {"__deepcopy__", "__getstate__"} & value.cls.slots.keys()
            parts = value.slots.values() if known else ()
        case LibraryModule():
            parts = [part for _, part in value.children or ()]
    match value:
        case Ref() if value.identity in seen:
            return None
        case Ref():
            seen.add(value.identity)
    return next((found for part in parts if (found := refused(part, seen)) is not None), None)


def _is_computed(tensor: Tensor) -> bool:
    """Whether a tensor that requires grad is no leaf; of one that is one of several, by what it was computed from."""
    sources = tensor.origin.sources if tensor.origin is not None and not tensor.parameter else ()
    return node_of(tensor) is not None or any(source.spec.requires_grad is True for source in sources)


def _like(value: tuple[Any, ...], items: tuple[Any, ...]) -> tuple[Any, ...]:
    fields = getattr(value, "fields", None)
    if fields is not None:
        return type(value)(fields, items)  # type: ignore[call-arg]
    return items if type(value) is tuple else type(value)(items)
