"""Finds what keeps the autograd graphs of older steps alive: a list of losses, a running total.

In some steps, weak references to tensors with a graph are kept, and looked at later; and scalars are followed back, whether
their graph began before this step.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from torchsleuth.runtime.places import Places

MAX_REFERENCES = 600
MAX_OLD = 400
EVERY = 16
"""Steps between two that are watched, at most."""
NESTED = 3
"""Containers in one another that are looked through for one with a name."""
MAX_HOLDERS = 20
OLD_STEPS = 2
"""Steps after which a tensor with a graph is expected to be gone."""


class KeptGraphs:
    """`watching` is true while values are to be shown to `see`."""

    def __init__(self, own: Places) -> None:
        self._own = own
        self.torch: Any = None
        self.watching = True
        self._step = 1
        self._due = EVERY
        self._boundary = 0
        self._seen: list[tuple[int, int, weakref.ref[Any]]] = []
        self._alive: dict[int, dict[str, Any]] = {}
        self._old: dict[int, list[tuple[int, int]]] = {}
        self._per_site: dict[int, int] = {}

    def begin(self, step: int, boundary: int, *, certainly: bool, closely: bool) -> None:
        """A step begins; functions made from now on have at least the sequence number `boundary`. `certainly`: it is to be
        watched, `closely`: it may be."""
        self._step, self._boundary = step, boundary
        self.watching = certainly or closely and step >= self._due
        if self.watching:
            self._due = step + EVERY
        self._per_site.clear()

    def see(self, site: int, value: Any) -> None:
        """A value with a graph at a recorded place."""
        seen = self._per_site[site] = self._per_site.get(site, 0) + 1
        if seen > 2:
            return
        if len(self._seen) < MAX_REFERENCES:
            self._seen.append((site, self._step, weakref.ref(value)))
        if value.numel() == 1 and self._boundary:
            old = self._behind(value.grad_fn)
            if old:
                self._old.setdefault(site, []).append((self._step, old))

    def now(self) -> Iterator[tuple[int, Any]]:
        """The values of this step that are still there, with their places."""
        for site, made, reference in self._seen:
            value = reference() if made == self._step else None
            if value is not None:
                yield site, value

    def _behind(self, root: Any) -> int:
        """Functions in a graph that were made before this step; at most `MAX_OLD`."""
        waiting, seen, old = [root], {root}, 0
        while waiting and len(seen) < 4 * MAX_OLD and old < MAX_OLD:
            function = waiting.pop()
            for inner, _ in function.next_functions:
                if inner is not None and inner not in seen and hasattr(inner, "_sequence_nr"):
                    seen.add(inner)
                    number = inner._sequence_nr()
                    if number < 1 << 62:
                        old += number < self._boundary
                        waiting.append(inner)
        return old

    def look(self, step: int) -> None:
        """Which tensors of older steps are still there, with their graph."""
        kept = []
        alive: dict[int, dict[int, Any]] = {}
        for site, made, reference in self._seen:
            value = reference()
            if value is None or value.grad_fn is None:
                continue
            kept.append((site, made, reference))
            if made <= step - OLD_STEPS:
                alive.setdefault(site, {})[made] = value
        self._seen = kept
        for site, values in alive.items():
            found = self._alive.setdefault(site, {"steps": 0, "holder": None})
            if len(values) > found["steps"]:
                found["steps"] = len(values)
                if len(values) >= 3 and found["holder"] is None:
                    found["holder"] = self._holder(next(iter(values.values())))

    def _holder(self, value: Any) -> str:
        """The name of the list or dictionary that a tensor is in, perhaps as a part of a record there; empty where none is
        known."""
        named = list(held_by_user(self._own))
        holders = [value]
        for _ in range(NESTED):
            holders = [one for one in gc.get_referrers(*holders) if _holds(one) and one is not holders][:MAX_HOLDERS]
            found = next((name for name, held in named if _has(held, holders)), None)
            if found is not None or not holders:
                return found or ""
        return ""

    def end(self, step: int) -> None:
        self.look(step + OLD_STEPS)
        self._seen = []

    def to_json(self, place_of: Callable[[int], dict[str, Any] | None]) -> list[dict[str, Any]]:
        found = []
        for site, known in self._alive.items():
            place = place_of(site)
            if place is not None and known["steps"] >= 3:
                found.append(
                    {"place": place, "alive": known["steps"], "steps": known["steps"], "holder": known["holder"]}
                )
        for site, counts in self._old.items():
            place = place_of(site)
            most = max(count for _, count in counts)
            if place is not None and len(counts) >= 3 and most >= 3 * counts[0][1]:
                grown = {"place": place, "alive": counts[-1][1], "steps": len(counts), "holder": None, "grows": True}
                found.append(grown)
        return found[:20]


def held_by_user(own: Places) -> Iterator[tuple[str, Any]]:
    """The values that the names of the user's frames stand for, the innermost first, and the attributes of it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if own.is_own(frame.f_code):
            for name, held in list(frame.f_locals.items()):
                yield name, held
                inner = getattr(held, "__dict__", None)
                if type(inner) is dict:
                    yield from ((f"{name}.{field}", owned) for field, owned in list(inner.items()))
        frame = frame.f_back


def is_sequence(value: Any) -> bool:
    return type(value) is list or type(value).__name__ == "deque"


def _holds(value: Any) -> bool:
    """Whether an object may be what the user's script keeps things in: a list, a record."""
    return not isinstance(value, FrameType | ModuleType | FunctionType | CellType | type) and "__name__" not in (
        value if type(value) is dict else ()
    )


def _has(held: Any, holders: list[Any]) -> bool:
    """Whether a value is one of the holders, or a dictionary of them. Nothing of the user's is called."""
    if any(held is one for one in holders):
        return True
    inner = dict.values(held) if isinstance(held, dict) and len(held) <= 100 else ()
    return any(found is one for found in inner for one in holders)
