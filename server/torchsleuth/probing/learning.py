"""Says whether one batch is learnt, and which learning rate is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchsleuth.messages import message
from torchsleuth.numbers import number
from torchsleuth.probing.result import Place, Result
from torchsleuth.schema import Json

LEAST_STEPS = 16
LEARNT, HALF = 0.1, 0.5
"""Parts of the first loss: below the first one a batch is learnt, above the second one it is not at all."""
LEAST_POINTS = 20
TOO_LOW = 1 / 300
"""Part of the suggested rate below which a rate is too low."""
SMOOTHING = 0.85
FALLEN = 0.05
"""Part of the first loss that a loss has to lose at some rate."""
RISEN = 0.25
"""Part of what the loss has lost that it regains where it diverges."""


def overfit(measured: Json, places: Callable[[Json | None], Place | None]) -> Result:
    """Passed where the loss of one batch falls to a tenth, or below 0."""
    losses, place = measured["losses"], places(measured["place"])
    if not losses:
        reason = "probe.no_step" if measured["backwards"] else "probe.no_training"
        return Result("overfit", "impossible", message(reason), place, measured=measured)
    curve = tuple((float(step), loss) for step, loss in enumerate(losses, 1) if loss is not None)
    shown: dict[str, Any] = {"axis": message("probe.axis.step"), "curve": curve, "measured": measured}
    if None in losses:
        text = message("probe.overfit.bad", step=losses.index(None) + 1)
        return Result("overfit", "found", text, place, **shown)
    part = max(len(losses) // 16, 1)
    first, last = losses[0], sum(losses[-part:]) / part
    rate = "" if measured["rate"] is None else message("probe.overfit.rate", rate=number(measured["rate"]))
    optimizer = measured["optimizer"] or "SGD"
    values = {"first": number(first), "last": number(last), "steps": len(losses)}
    if last <= LEARNT * abs(first) or first <= 0 and last < first:
        return Result("overfit", "passed", message("probe.overfit.passed", **values), place, **shown)
    if measured["optimizers"] > 1:
        text = message("probe.overfit.several", count=measured["optimizers"], **values)
        return Result("overfit", "impossible", text, place, **shown)
    if len(losses) < LEAST_STEPS:
        return Result("overfit", "impossible", message("probe.few_steps", steps=len(losses)), place, **shown)
    if not (measured["loader"] or measured["pinned"] or measured["same"]):
        return Result("overfit", "impossible", message("probe.overfit.no_batch"), place, **shown)
    values |= {"rate": rate, "optimizer": optimizer}
    if last > 1.05 * first:
        return Result("overfit", "found", message("probe.overfit.rising", **values), place, **shown)
    if last > HALF * first:
        name, details = "probe.overfit.flat", (message("probe.overfit.causes"),)
        if _falls(losses):
            name = "probe.overfit.slow"
        return Result("overfit", "found", message(name, **values), place, details, **shown)
    if _falls(losses):
        return Result("overfit", "passed", message("probe.overfit.passed", **values), place, **shown)
    details = (message("probe.overfit.floor_causes"),)
    return Result("overfit", "found", message("probe.overfit.floor", **values), place, details, **shown)


def _falls(losses: list[float]) -> bool:
    """Whether it went on falling up to the end: each quarter has lost a part of what there was."""
    part = len(losses) // 4
    means = [sum(losses[start : start + part]) / part for start in range(0, 4 * part, part)]
    return all(after < before - 0.01 * abs(before) for before, after in zip(means, means[1:]))


def rates(measured: Json, places: Callable[[Json | None], Place | None]) -> Result:
    """Passed where the script's own rate lies between one that is much too low and the one from which on the loss diverges."""
    place = places(measured["place"])
    losses = [loss for loss in measured["losses"] if loss is not None]
    known = measured["rates"][: len(losses)]
    if not losses:
        reason = "probe.no_step" if measured["backwards"] else "probe.no_training"
        return Result("lr", "impossible", message(reason), place, measured=measured)
    if len(losses) < LEAST_POINTS:
        return Result("lr", "impossible", message("probe.lr.few", steps=len(losses)), place, measured=measured)
    smooth = smoothed(losses)
    curve = tuple(zip(known, losses))
    still = max(len(losses) // 5, 8)
    before, noise = _mean_and_spread(losses[:still])
    lowest = min(range(still, len(smooth)), key=smooth.__getitem__)
    shown: dict[str, Any] = {"axis": message("probe.axis.rate"), "curve": curve, "measured": measured}
    fallen = before - smooth[lowest]
    if fallen < FALLEN * abs(before):
        values = {"lowest": number(known[0]), "highest": number(known[-1]), "first": number(before)}
        text = message("probe.lr.flat", low=number(smooth[lowest]), **values)
        return Result("lr", "found", text, place, **shown)
    if fallen < noise:
        text = message("probe.lr.noise", noise=number(noise), fallen=number(fallen))
        return Result("lr", "impossible", text, place, **shown)
    steepest = min(range(still, lowest + 1), key=lambda index: smooth[index] - smooth[index - 1])
    rises = smooth[lowest] + RISEN * fallen
    diverges = next((known[index] for index in range(lowest, len(smooth)) if smooth[index] > rises), None)
    suggestion = min(known[steepest], known[lowest] / 3)
    own = measured["own"]
    values = {"own": number(own), "steepest": number(known[steepest]), "suggestion": number(suggestion)}
    shown["measured"] = {**measured, "suggestion": suggestion, "steepest": known[steepest], "diverges": diverges}
    if own is not None and diverges is not None and own >= diverges:
        return Result("lr", "found", message("probe.lr.high", diverges=number(diverges), **values), place, **shown)
    if own is not None and own < TOO_LOW * suggestion:
        return Result("lr", "found", message("probe.lr.low", **values), place, **shown)
    return Result("lr", "passed", message("probe.lr.passed", **values), place, **shown)


def smoothed(losses: list[float]) -> list[float]:
    """An exponential mean, without the bias of its beginning."""
    found, mean = [], 0.0
    for number_, loss in enumerate(losses, 1):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
        found.append(mean / (1 - SMOOTHING**number_))
    return found


def _mean_and_spread(losses: list[float]) -> tuple[float, float]:
    """Of the losses while the rate is too low to change anything."""
    mean = sum(losses) / len(losses)
    spread: float = (sum((loss - mean) ** 2 for loss in losses) / len(losses)) ** 0.5
    return mean, spread
