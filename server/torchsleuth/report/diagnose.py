"""Findings about a training by its log alone: its losses, learning rates, gradient norms and scale."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.numbers import amount, number, share
from torchsleuth.report.logs import Logs, Points
from torchsleuth.report.losses import mean
from torchsleuth.schema import SEVERITIES, Json

ENOUGH = 10
"""Values below which nothing is said of the course of a series."""
EXPLODED = 100
"""Times the usual gradient norm."""
_LOSS = re.compile(r"(^|[/_.\- ])(loss|nll|cross_entropy|ce|mse|bce|perplexity|ppl)([/_.\- ]|$|\d)", re.IGNORECASE)
_VALIDATION = re.compile(r"(^|[/_.\- ])(val|valid|validation|eval|evaluation|test|dev)([/_.\- ]|$|loss)", re.IGNORECASE)
_RATE = re.compile(r"(^|[/_.\- ])(lr|learning_?rate)([/_.\- ]|$|\d)", re.IGNORECASE)
_NORM = re.compile(r"grad(ient)?s?[/_.\- ]?(total[/_.\- ]?)?(2[/_.\- ])?norm", re.IGNORECASE)
_SCALE = re.compile(r"(loss|grad|amp)[/_.\- ]?scale", re.IGNORECASE)
_PARTS = re.compile(
    r"(discriminator|generator|[/_.\- ](d|g|critic|policy|actor|value|entropy|kl)([/_.\- ]|$)|^(d|g)_)", re.I
)
"""Losses of games and of policies: they go up and down for good reasons."""


@dataclass(frozen=True)
class Sign:
    """Something that a log shows. `step`: where it begins; `series`: the names of what shows it."""

    code: str
    message: str
    series: tuple[str, ...]
    step: float | None = None

    @property
    def severity(self) -> str:
        return FAULTS[self.code].severity

    def to_json(self) -> Json:
        return {
            "code": self.code,
            "name": FAULTS[self.code].name,
            "severity": self.severity,
            "message": self.message,
            "series": list(self.series),
            "step": self.step,
        }


def signs(logs: Logs) -> tuple[Sign, ...]:
    """The findings of a log, the most harmful first. One cause is said once: what a loss that is not finite leads to is not."""
    losses = {name: points for name, points in logs.items() if _LOSS.search(name) and not _SCALE.search(name)}
    training = {name: points for name, points in losses.items() if not _VALIDATION.search(name)}
    validation = {name: points for name, points in losses.items() if _VALIDATION.search(name)}
    found: list[Sign] = []
    for name, points in losses.items():
        sign = _not_finite(name, points, logs)
        if sign is None and name in training and not _PARTS.search(name):
            sign = _course(name, points, logs)
        if sign is not None:
            found.append(sign)
    bad = any(sign.code == "TS920" for sign in found)
    if not bad:
        found += _overfitting(training, validation)
        found += _gradients(logs)
    found += _scale(logs)
    found += _rates(logs)
    ranked = sorted(found, key=lambda sign: SEVERITIES.index(sign.severity))
    return tuple({(sign.code, sign.message): sign for sign in ranked}.values())


def understood(logs: Logs) -> tuple[str, ...]:
    """The names of the series that something can be said of."""
    known = (_LOSS, _RATE, _NORM, _SCALE)
    return tuple(name for name in logs if any(pattern.search(name) for pattern in known))


def _finite(points: Points) -> Points:
    return [point for point in points if math.isfinite(point[1])]


def _not_finite(name: str, points: Points, logs: Logs) -> Sign | None:
    bad = [point for point in points if not math.isfinite(point[1])]
    if not bad:
        return None
    step, before = bad[0][0], _finite([point for point in points if point[0] < bad[0][0]])
    values = {"series": name, "step": f"{step:g}", "count": amount(len(bad)), "all": amount(len(points))}
    values["norm"] = _norm_before(logs, step)
    if len(before) >= 3 and before[-1][1] > 3 * median(value for _, value in before[: max(1, len(before) // 2)]):
        rate = _rate_at(logs, step)
        text = message("diagnose.blew_up", last=number(before[-1][1]), rate=rate, **values)
        return Sign("TS920", text, (name,), step)
    return Sign("TS920", message("diagnose.not_finite", **values), (name,), step)


def _rate_at(logs: Logs, step: float) -> str:
    """The learning rate at a step, in words; empty where it is not in the log."""
    for name, points in logs.items():
        if _RATE.search(name) and (known := [value for at, value in _finite(points) if at <= step]):
            return message("diagnose.rate", rate=number(known[-1]))
    return ""


def _norm_before(logs: Logs, step: float) -> str:
    """How a gradient norm rose up to a step, in words; empty where none did."""
    for name, points in logs.items():
        known = [value for at, value in points if at <= step]
        usual = median([value for value in known if math.isfinite(value)][:-3] or [0.0])
        highest = max((math.inf if math.isnan(value) else value for value in known[-3:]), default=0.0)
        if _NORM.search(name) and len(known) >= ENOUGH and highest > EXPLODED * usual > 0:
            return message("diagnose.norm_before", series=name, first=number(usual), last=number(highest))
    return ""


def _course(name: str, points: Points, logs: Logs) -> Sign | None:
    """A loss that rises, jumps up and down, or stays where it was."""
    values = [value for _, value in _finite(points)]
    if len(values) < ENOUGH:
        return None
    part = max(2, len(values) // 5)
    begin, end = mean(values[: max(1, len(values) // 20)]), median(values[-part:])
    lowest = min(values)
    spread = max(values) - lowest
    told = {"series": name, "first": number(begin), "last": number(end), "count": amount(len(values))}
    rate = _rate_at(logs, points[-1][0])
    if end > 1.5 * abs(begin) and end > 1.5 * abs(median(values[: len(values) // 2])):
        return Sign("TS927", message("diagnose.rising", rate=rate, **told), (name,), None)
    tail = values[len(values) // 3 :]
    noise = median(abs(one - other) for one, other in zip(tail, tail[1:]))
    if end >= begin and noise > 0.5 * abs(median(tail)) and min(tail) > 0 and max(tail) > 5 * min(tail):
        return Sign("TS927", message("diagnose.jumps", rate=rate, **told), (name,), None)
    if (
        not _falls(values)
        and end > 0.97 * begin
        and begin > 0
        and abs(end - begin) <= max(0.03 * begin, 0.25 * spread)
        and lowest > 0.8 * begin
    ):
        classes = next((count for count in range(2, 1001) if abs(end - math.log(count)) < 0.01 * math.log(count)), None)
        at_chance = (
            classes is not None
            and abs(begin - end) < 0.05 * end
            and classes in (2, 3, 4, 5, 10, 20, 50, 100, 200, 1000)
        )
        hint = message("diagnose.chance", classes=classes) if at_chance else ""
        return Sign("TS921", message("diagnose.flat", hint=hint, **told), (name,), None)
    return None


def _falls(values: list[float]) -> bool:
    """Whether it falls, however little: from each fifth to the next."""
    part = len(values) // 5
    medians = [median(values[index * part : (index + 1) * part]) for index in range(5)]
    return all(later < sooner for sooner, later in zip(medians, medians[1:]))


def _overfitting(training: Logs, validation: Logs) -> Iterator[Sign]:
    """A loss of validation that rises from its minimum on while that of training falls."""
    for name, points in validation.items():
        known = _finite(points)
        if len(known) < 5:
            continue
        values = [value for _, value in known]
        lowest = min(range(len(values)), key=values.__getitem__)
        step, after = known[lowest][0], values[lowest + 1 :]
        if len(after) < 3 or median(after[-3:]) < 1.1 * values[lowest] or min(after[-2:]) <= values[lowest]:
            continue
        for other, curve in training.items():
            before = [value for at, value in _finite(curve) if at <= step]
            later = [value for at, value in _finite(curve) if at > step]
            if (
                before
                and later
                and mean(later[-max(1, len(later) // 3) :]) < 0.98 * mean(before[-max(1, len(before) // 3) :])
            ):
                yield Sign(
                    "TS936",
                    message(
                        "diagnose.overfits",
                        series=name,
                        step=f"{step:g}",
                        low=number(values[lowest]),
                        last=number(values[-1]),
                        training=other,
                    ),
                    (name, other),
                    step,
                )
                break


def _gradients(logs: Logs) -> Iterator[Sign]:
    for name, points in logs.items():
        if not _NORM.search(name):
            continue
        known = _finite(points)
        bad = len(points) - len(known)
        values = [value for _, value in known]
        if bad and len(points) >= ENOUGH and bad > 0.2 * len(points):
            told = {"series": name, "count": amount(bad), "all": amount(len(points))}
            yield Sign("TS923", message("diagnose.norm_bad", **told), (name,))
        elif len(values) >= ENOUGH:
            early = median(values[: max(3, len(values) // 4)])
            late = median(values[-max(3, len(values) // 10) :])
            told = {"series": name, "first": number(early), "last": number(late)}
            if early > 0 and late > 100 * early and late > 100:
                yield Sign("TS923", message("diagnose.norm_grows", **told), (name,))
            elif max(values) < 1e-6:
                yield Sign("TS924", message("diagnose.norm_small", high=number(max(values)), **told), (name,))


def _scale(logs: Logs) -> Iterator[Sign]:
    for name, points in logs.items():
        values = [value for _, value in _finite(points)]
        if (
            _SCALE.search(name)
            and len(values) >= 3
            and values[0] >= 1024
            and values[-1] < 1
            and values[-1] == min(values)
        ):
            told = {"series": name, "first": number(values[0]), "last": number(values[-1])}
            yield Sign("TS937", message("diagnose.scale", **told), (name,))


def _rates(logs: Logs) -> Iterator[Sign]:
    for name, points in logs.items():
        values = [value for _, value in _finite(points)]
        if not _RATE.search(name) or len(values) < ENOUGH:
            continue
        zeros = sum(value == 0 for value in values)
        if zeros == len(values):
            yield Sign("TS928", message("diagnose.rate_zero", series=name), (name,))
        elif values[-1] == 0 and zeros > 0.25 * len(values):
            step = next(at for at, value in reversed(_finite(points)) if value != 0)
            told = {"series": name, "step": f"{step:g}", "share": share(zeros / len(values))}
            yield Sign("TS928", message("diagnose.rate_ends", **told), (name,), step)
