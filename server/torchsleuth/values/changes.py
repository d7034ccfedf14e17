"""What a branch has changed."""

from __future__ import annotations

from typing import Any, NamedTuple

Slots = dict[Any, Any]


class Change(NamedTuple):
    """What stands in a slot."""

    slots: Slots
    key: Any
    value: Any


Delta = dict[tuple[int, Any], Change]
"""By the identity of the slots, and the key."""
