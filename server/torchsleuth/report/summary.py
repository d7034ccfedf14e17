"""A run in one line, for its end at the terminal: the numbers, the worst finding and the doubts that its page has at the top."""

from __future__ import annotations

from collections.abc import Sequence

from torchsleuth.messages import message
from torchsleuth.numbers import amount, number
from torchsleuth.report.checklist import AMBER, RED, checklist
from torchsleuth.report.losses import by_place, course
from torchsleuth.runtime.report import RunReport
from torchsleuth.schema import SEVERITIES, Diagnostic
from torchsleuth.training import Training

PHASES = ("data", "forward", "backward", "optimizer", "evaluation", "other")
LEAST = 0.005
"""Share of the time from which on a phase is told."""


def worst(found: Sequence[Diagnostic]) -> tuple[Diagnostic, int] | None:
    """The worst of findings that are in the order of their harm, and how many others there are that are no hints."""
    ranked = sorted(found, key=lambda one: SEVERITIES.index(one.severity))
    grave = [one for one in ranked if one.severity != "hint"]
    return (grave[0], len(grave) - 1) if grave else None


def doubts(report: RunReport) -> str:
    """The points of the check-list that are doubtful, though nothing was found. The loss is told by its numbers, and a training
    without a seed is none that went wrong."""
    points = [point.name for point in checklist(report) if point.state in (AMBER, RED)]
    points = [name for name in points if name not in ("loss", "seed")]
    return ", ".join(message(f"page.point.{name}") for name in points)


def nothing_seen(training: Training) -> bool:
    """Whether all of it ran under a debugger or profiler, as far as it was a training."""
    return training.interrupted and not training.steps and not training.backwards


def summary(report: RunReport, training: Training, found: Sequence[Diagnostic]) -> str:
    """One line about a run. `found`: its findings, with paths as they are shown."""
    unseen = message("cli.run.unseen") if training.interrupted and not nothing_seen(training) else ""
    return _of_what_was_seen(report, training, found) + unseen


def _of_what_was_seen(report: RunReport, training: Training, found: Sequence[Diagnostic]) -> str:
    values = {"steps": amount(training.steps), "loss": _losses(training), "time": _time(training)}
    known = worst(found)
    hidden = nothing_seen(training)
    if known is not None:
        first, others = known
        more = message("cli.run.others", count=others) if others else ""
        place = f"{first.path}:{first.start.line}"
        values |= {"code": first.code, "name": first.name, "place": place, "more": more}
        return message("cli.run.only_text" if hidden else "cli.run.worst", **values)
    if hidden:
        return message("cli.run.nothing_seen")
    if not training.steps:
        return message("cli.run.no_steps", count=amount(training.backwards), loss=values["loss"])
    points = doubts(report)
    if points:
        return message("cli.run.doubtful", points=points, **values)
    losses = by_place(training)
    kind = course(losses[0].values).kind if losses else ""
    return message("cli.run.not_falling" if kind in ("flat", "rising") else "cli.run.healthy", **values)


def _losses(training: Training) -> str:
    """How the loss went that there are most values of."""
    losses = by_place(training)
    if not losses or not losses[0].values.count:
        return ""
    went = course(losses[0].values)
    first, last = ("nan" if value is None else number(value) for value in (went.begin, went.end))
    return message("cli.run.losses", first=first, last=last)


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
