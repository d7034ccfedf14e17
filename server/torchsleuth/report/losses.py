"""The losses of a training by the place of their backward(), and what their course is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from torchsleuth.training import Loss, Series, Training

FLAT = 0.03
"""Part of the first value that a loss has to fall by to be called falling."""
FEW = 8
"""Values below which nothing is said of a course."""


@dataclass(frozen=True)
class Course:
    """Means of the beginning and the end of a loss. `kind`: ``falling``, ``flat``, ``rising``, ``not finite``, ``short``."""

    kind: str
    begin: float | None
    end: float | None


def by_place(training: Training) -> tuple[Loss, ...]:
    """One loss for each place: the first call of an expression may be noted apart from the others. The one with the most values
    first."""
    found: dict[object, Loss] = {}
    for number, loss in enumerate(training.losses):
        key = (loss.place.path, loss.place.line, loss.place.span) if loss.place is not None else number
        known = found.get(key)
        found[key] = loss if known is None else _joined(known, loss)
    return tuple(sorted(found.values(), key=lambda loss: -loss.values.count))


def _joined(one: Loss, other: Loss) -> Loss:
    kept = max(one, other, key=lambda loss: loss.values.count)
    return replace(
        kept,
        values=joined(one.values, other.values),
        kind=kept.kind or one.kind or other.kind,
        retained=one.retained + other.retained,
        looked=one.looked + other.looked,
    )


def joined(one: Series, other: Series) -> Series:
    """Two series of one number as one."""
    first, last = sorted((one, other), key=lambda series: series.points[0][0] if series.points else 0)
    low = [(series.low, series.low_step) for series in (one, other) if series.low is not None]
    high = [(series.high, series.high_step) for series in (one, other) if series.high is not None]
    lowest = min(low, key=lambda found: found[0], default=(None, None))
    highest = max(high, key=lambda found: found[0], default=(None, None))
    bad = [series.first_bad for series in (one, other) if series.first_bad is not None]
    return Series(
        one.count + other.count,
        max(one.stride, other.stride),
        tuple(sorted((*one.points, *other.points), key=lambda point: point[0])),
        first.first,
        last.last,
        lowest[0],
        highest[0],
        lowest[1],
        highest[1],
        one.bad + other.bad,
        min(bad, default=None),
    )


def course(series: Series) -> Course:
    """How a loss went: the mean of the first twentieth of its values against that of the last fifth."""
    values = series.values
    if series.bad:
        return Course("not finite", series.first, series.last)
    if len(values) < FEW:
        return Course("short", series.first, series.last)
    part = max(2, len(values) // 5)
    begin, end = mean(values[: max(1, len(values) // 20)]), mean(values[-part:])
    scale = max(abs(begin), 1e-12)
    if end < begin - FLAT * scale:
        kind = "falling"
    elif end > begin + FLAT * scale:
        kind = "rising"
    else:
        kind = "flat"
    return Course(kind, begin, end)


def mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(value / len(found) for value in found)  # their sum may be larger than any number
