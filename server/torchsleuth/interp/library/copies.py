"""copy.copy and copy.deepcopy: objects with an identity of their own."""

from __future__ import annotations

import copy
from typing import Any

from torchsleuth.interp.values import ClassValue, Instance, Ref, Tensor, Value, new_identity


def shallow(value: Value) -> Value:
    """An object of its own that holds the same things."""
    if not isinstance(value, Ref) or isinstance(value, ClassValue):
        return value
    made = copy.copy(value)
    made.identity = new_identity()
    made.slots = type(value.slots)(value.slots)
    if isinstance(made, Instance):
        made.state = dict(made.state)
    return made


def deep(value: Value, memo: dict[int, Value] | None = None) -> Value:
    """An object of its own that holds copies of everything."""
    memo = {} if memo is None else memo
    if isinstance(value, tuple):
        items = tuple(deep(item, memo) for item in value)
        return _like(value, items)
    if isinstance(value, dict):
        return {key: deep(item, memo) for key, item in value.items()}
    if not isinstance(value, Ref) or isinstance(value, ClassValue):
        return value
    if value.identity not in memo:
        made = memo[value.identity] = shallow(value)
        for name, item in value.slots.items():
            made.slots[name] = deep(item, memo)
        if isinstance(made, Instance):
            made.native = deep(made.native, memo)
        elif isinstance(made, Tensor):
            made.storage = Ref()
    return memo[value.identity]


def _like(value: tuple[Any, ...], items: tuple[Any, ...]) -> tuple[Any, ...]:
    fields = getattr(value, "fields", None)
    if fields is not None:
        return type(value)(fields, items)  # type: ignore[call-arg]
    return items if type(value) is tuple else type(value)(items)
