"""The changes that a branch has made."""

from __future__ import annotations

from typing import Any, NamedTuple

Slots = dict[Any, Any]


class Change(NamedTuple):
    """The value in a slot."""

    slots: Slots
    key: Any
    value: Any


Delta = dict[tuple[int, Any], Change]
"""By the identity of the slots, and the key."""
