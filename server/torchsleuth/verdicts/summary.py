"""A training in one line, for the end of a run."""

from __future__ import annotations

from collections.abc import Sequence

from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic
from torchsleuth.training import Loss, Training

PHASES = ("data", "forward", "backward", "optimizer", "evaluation", "other")
LEAST = 0.005
"""Share of the time from which on a phase is told."""


def summary(training: Training, found: Sequence[Diagnostic]) -> str:
    """One line about a run and its worst finding; the findings are in the order of their harm."""
    values = {"steps": training.steps, "loss": _losses(training), "time": _time(training)}
    grave = [diagnostic for diagnostic in found if diagnostic.severity != "hint"]
    if not grave:
        return message("cli.run.healthy", **values)
    worst, others = grave[0], len(grave) - 1
    more = message("cli.run.others", count=others) if others else ""
    place = f"{worst.path}:{worst.start.line}"
    return message("cli.run.worst", code=worst.code, name=worst.name, place=place, more=more, **values)


def _losses(training: Training) -> str:
    """From the first to the last one of the loss that there are most of."""
    known = [loss for loss in training.losses if loss.values.count]
    if not known:
        return ""
    main = max(known, key=lambda loss: loss.values.count)
    same = [loss for loss in known if _line(loss) == _line(main)]
    first = min(same, key=lambda loss: loss.values.points[0][0] if loss.values.points else 0)
    return message("cli.run.losses", first=_number(first.values.first), last=_number(main.values.last))


def _line(loss: Loss) -> tuple[str, int] | None:
    return None if loss.place is None else (loss.place.path, loss.place.line)


def _number(value: float | None) -> str:
    return "nan" if value is None else f"{value:.4g}"


def _time(training: Training) -> str:
    """The median of a step, and the share of each phase."""
    steps = sorted(training.step_seconds.values)
    whole = sum(training.phases.values())
    if not steps or not whole:
        return ""
    shares = [(name, training.phases.get(name, 0.0) / whole) for name in PHASES]
    told = ", ".join(f"{name} {share:.0%}" for name, share in shares if share >= LEAST)
    return message("cli.run.time", step=_duration(steps[len(steps) // 2]), shares=told)


def _duration(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
