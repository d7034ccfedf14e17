"""Numbers over time, in a bounded number of points, and how often they may be measured."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

MAX_POINTS = 400
PACE_SHARE = 100
PACE_FREE = 32
"""Measurements that are taken whatever they cost."""


class Series:
    """The means of stretches of values; a stretch gets twice as long whenever there are too many."""

    __slots__ = (
        "count",
        "stride",
        "points",
        "first",
        "last",
        "low",
        "high",
        "bad",
        "first_bad",
        "_sum",
        "_held",
        "_step",
    )

    def __init__(self) -> None:
        self.count = self.bad = self._held = 0
        self.stride = 1
        self.points: list[tuple[int, float | None]] = []
        self.first: float | None = None
        self.last: float | None = None
        self.low: tuple[float, int] | None = None
        self.high: tuple[float, int] | None = None
        self.first_bad: int | None = None
        self._sum = 0.0
        self._step = 0

    def add(self, step: int, value: float) -> None:
        if not self._held:
            self._step = step
        self._held += 1
        self.count += 1
        finite = math.isfinite(value)
        if finite:
            if self.low is None or value < self.low[0]:
                self.low = (value, step)
            if self.high is None or value > self.high[0]:
                self.high = (value, step)
        else:
            self.bad += 1
            if self.first_bad is None:
                self.first_bad = step
        self._sum += value
        if self.count == 1:
            self.first = value if finite else None
        self.last = value if finite else None
        if self._held >= self.stride:
            self._close()

    def _close(self) -> None:
        mean = self._sum / self._held
        self.points.append((self._step, mean if math.isfinite(mean) else None))
        self._sum, self._held = 0.0, 0
        if len(self.points) >= MAX_POINTS:
            pairs = zip(self.points[::2], self.points[1::2])
            self.points = [(one[0], _mean(one[1], other[1])) for one, other in pairs]
            self.stride *= 2

    def to_json(self) -> dict[str, Any]:
        points = list(self.points)
        if self._held:
            mean = self._sum / self._held
            points.append((self._step, mean if math.isfinite(mean) else None))
        low, high = self.low or (None, None), self.high or (None, None)
        return {
            "count": self.count,
            "stride": self.stride,
            "points": points,
            "first": self.first,
            "last": self.last,
            "low": low[0],
            "low_step": low[1],
            "high": high[0],
            "high_step": high[1],
            "bad": self.bad,
            "first_bad": self.first_bad,
        }


def _mean(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else (one + other) / 2


def thinned(samples: list[Any], most: int) -> None:
    """Leave out every second one of the older half while there are too many, so that the first and the latest ones stay."""
    if len(samples) > most:
        half = most // 2
        samples[1:half] = samples[1:half:2]


class Pace:
    """Lets work through in each so many steps at most, and, after the first times, as often as it costs no more than one part in
    `PACE_SHARE` of the time."""

    __slots__ = ("_every", "_step", "_free", "_next")

    def __init__(self, every: int) -> None:
        self._every = every
        self._step = 0
        self._free = PACE_FREE
        self._next = 0.0

    def keep(self, step: int, work: Callable[[], None]) -> None:
        """Do it, unless that would be too much."""
        if step < self._step:
            return
        self._step = step + self._every
        began = time.perf_counter()
        if self._free or began >= self._next:
            self._free = max(0, self._free - 1)
            work()
            ended = time.perf_counter()
            self._next = ended + PACE_SHARE * (ended - began)
