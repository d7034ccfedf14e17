"""Says whether two runs agree, and which number of loader workers is the quickest."""

from __future__ import annotations

from collections.abc import Callable

from torchsleuth.messages import message
from torchsleuth.numbers import seconds, share
from torchsleuth.probing.result import Place, Result
from torchsleuth.schema import Json

Places = Callable[[Json | None], Place | None]
GAIN = 0.15
"""Part of the time of a step that other workers have to save."""
LEAST_SECONDS = 5e-4
SEEDED = ("torch", "numpy", "random")


def determinism(measured: Json, places: Places) -> Result:
    """Passed where two runs agree. `measured`: {runs}: two as they are, and, where these differ, two with seeds."""
    first, second, *seeded = measured["runs"]
    if not first["losses"] and not first["values"]:
        return Result("determinism", "impossible", message("probe.determinism.nothing"))
    summary = {"losses": [run["losses"] for run in measured["runs"]], "seeded": first["seeded"]}
    if agree(first, second):
        text = message("probe.determinism.passed", losses=len(first["losses"]), values=len(first["values"]))
        return Result("determinism", "passed", text, measured=summary)
    place, details, one, other = places(first["place"]), [], first, second
    cured = agree(*seeded)
    if not cured:  # what seeds do not cure
        one, other = seeded
    where = message("probe.determinism.at_value")
    step = _first(one["losses"], other["losses"])
    if step is not None:
        values = {"first": _at(one["losses"], step), "second": _at(other["losses"], step)}
        where = message("probe.determinism.at_step", step=step + 1, **values)
    value = _first(one["values"], other["values"])
    if value is not None:
        site = (one["values"] if value < len(one["values"]) else other["values"])[value][0]
        known = one["sites"] if value < len(one["values"]) else other["sites"]
        place = places(known[str(site)]) or place
        details.append(message("probe.determinism.line", values=len(one["values"])))
    if not cured:
        details.append(message("probe.determinism.advice"))
        text = message("probe.determinism.random", where=where)
    else:
        missing = [name for name in SEEDED if name in first["drawn"] and name not in first["seeded"]]
        text = message("probe.determinism.reseeded", where=where)
        if missing:
            text = message("probe.determinism.unseeded", where=where, libraries=_listed(missing))
    return Result("determinism", "found", text, place, tuple(details), measured=summary)


def agree(one: Json, other: Json) -> bool:
    return bool(one["losses"] == other["losses"] and one["values"] == other["values"])


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return message("probe.determinism.one", name=names[0])
    return message("probe.determinism.many", names=", ".join(names))


def _first(one: list[object], other: list[object]) -> int | None:
    """The first place at which two lists differ."""
    if one == other:
        return None
    return next((index for index, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))


def _at(losses: list[float | None], step: int) -> str:
    loss = losses[step] if step < len(losses) else None
    return "nan" if loss is None else f"{loss:.9g}"


def workers(measured: Json, places: Places) -> Result:
    """Passed where no other number of workers makes a step much shorter."""
    if not measured["steps"]:
        reason = "probe.no_step" if measured["backwards"] else "probe.no_training"
        return Result("workers", "impossible", message(reason), measured=measured)
    if "measured" not in measured:
        text = message("probe.workers.none", steps=measured["steps"] + 1)
        return Result("workers", "impossible", text, measured=measured)
    place, computing, own = places(measured["loader"]), measured["computing"], measured["own"]
    steps: dict[int, float] = {}
    details = []
    for item in measured["measured"]:
        if "error" in item:
            details.append(message("probe.workers.of_error", workers=item["workers"], error=item["error"]))
            continue
        step = steps[item["workers"]] = step_of(item["seconds"], computing, item["workers"])
        values = {"workers": item["workers"], "seconds": seconds(item["seconds"]), "step": seconds(step)}
        details.append(message("probe.workers.of", **values))
    if own not in steps:
        error = next(item["error"] for item in measured["measured"] if item["workers"] == own)
        return Result("workers", "impossible", message("probe.workers.error", error=error), place, measured=measured)
    quickest = min(steps.values())
    best = next(count for count, step in sorted(steps.items()) if step <= 1.05 * quickest)
    gain = steps[own] - steps[best]
    values = {"own": own, "before": seconds(steps[own])}
    if gain >= GAIN * steps[own] and gain > LEAST_SECONDS:
        values |= {"best": best, "gain": share(gain / steps[own]), "now": seconds(steps[best])}
        text = message("probe.workers.found", **values)
        return Result("workers", "found", text, place, tuple(details), measured=measured)
    text = message("probe.workers.passed", computing=seconds(computing), **values)
    return Result("workers", "passed", text, place, tuple(details), measured=measured)


def step_of(batch: float, computing: float, count: int) -> float:
    """The time of a step: workers load while it is computed, the process itself does not."""
    return max(batch, computing) if count else batch + computing
