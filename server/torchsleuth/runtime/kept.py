"""Finds what keeps the autograd graphs of older steps alive: a list of losses, a running total.

In some steps, weak references to tensors with a graph are kept, and looked at later; and scalars are followed back, whether
their graph began before this step.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.runtime.places import Places

MAX_REFERENCES = 600
MAX_OLD = 400
EVERY = 16
"""Steps between two that are watched, at most."""
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
        """The name of the list or dictionary that a tensor is in; empty where none is known."""
        holders = [one for one in gc.get_referrers(value) if type(one) in (list, dict) or type(one).__name__ == "deque"]
        frame = sys._getframe(1)
        while frame is not None:
            if self._own.is_own(frame.f_code):
                for name, held in list(frame.f_locals.items()):
                    if _has(held, holders):
                        return name
                    inner = getattr(held, "__dict__", None)
                    if type(inner) is dict:
                        for field, owned in list(inner.items()):
                            if _has(owned, holders):
                                return f"{name}.{field}"
            frame = frame.f_back  # type: ignore[assignment]
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


def _has(held: Any, holders: list[Any]) -> bool:
    """Whether a value is one of the holders, or a dictionary of them. Nothing of the user's is called."""
    if any(held is one for one in holders):
        return True
    inner = dict.values(held) if isinstance(held, dict) and len(held) <= 100 else ()
    return any(found is one for found in inner for one in holders)
