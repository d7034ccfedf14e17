"""Rounds of evaluation that go backward: between two rounds of training, in evaluation mode, over other batches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.interp.library.hierarchy import stands_for_any
from torchsleuth.interp.library.optim import given_to
from torchsleuth.interp.trace import Event
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds, reads_gradients_in
from torchsleuth.rules.evidence.loops import covers, made_alike, optimizers_of, unseen
from torchsleuth.rules.evidence.schedules import holds
from torchsleuth.rules.rule import Analysis
from torchsleuth.values import LibraryObject, Unknown, Value, is_unknown
from torchsleuth.values.frames import Scene
from torchsleuth.values.unknown import Reason

_FORWARDS = 400
"""Forwards of one backward() that are looked at: those of a recurrent network may be many."""


@dataclass(frozen=True)
class Trained:
    """A backward() of an evaluation, `switch`: the eval() that it began with, and the `step` that follows its gradients."""

    backward: Event
    switch: Event
    step: Event


def trained_evaluations(analysis: Analysis) -> Iterator[Trained]:
    """Each backward() whose forward ran in evaluation mode, after an eval() for it, while rounds before and after it in the
    same loop train the same parameters in training mode over other batches; and whose gradients a step follows."""
    if not analysis.events("eval"):
        return
    for optimizer in analysis.trace.optimizers:
        steps = analysis.events_of(optimizer, "step")
        passes = [
            one for one in analysis.events("backward") if steps and one.loops and feeds(one, optimizer) is not False
        ]
        modes = [(one, _forwards(analysis, one, optimizer)) for one in passes]
        training = [
            one for one, forwards in modes if one.certain and any(forward.training is True for forward in forwards)
        ]
        for one, forwards in modes:
            if forwards and one.certain and all(forward.training is False for forward in forwards):
                switch = _switch(analysis, forwards)
                step = _followed(analysis, one, optimizer)
                if switch is not None and step is not None and _alternates(analysis, one, switch, training):
                    yield Trained(one, switch, step)


def _forwards(analysis: Analysis, backward: Event, optimizer: LibraryObject) -> list[Event]:
    """The forwards of what an optimizer trains that a loss was computed by. Of a module that nobody passes, that is what the
    only optimizer there is was given."""
    if len(backward.history) > _FORWARDS:
        return []
    only = len(analysis.trace.optimizers) == 1 and any(is_unknown(given) for given in given_to(optimizer))
    found = [one for one in analysis.events("forward") if one.forward_id in backward.history]
    return [one for one in found if (only and stands_for_any(one.subject)) or optimizers_of([optimizer], [one.subject])]


def _switch(analysis: Analysis, forwards: list[Event]) -> Event | None:
    """The eval() that put these into evaluation mode, since something was last in training mode."""
    first = min(forwards, key=lambda one: one.index)
    modes = [one for one in (*analysis.events("eval"), *analysis.events("train")) if one.index < first.index]
    last = max((one for one in modes if covers(one, first.subject)), key=lambda one: one.index, default=None)
    return last if last is not None and last.kind == "eval" and last.certain else None


def _followed(analysis: Analysis, backward: Event, optimizer: LibraryObject) -> Event | None:
    """The next step of an optimizer, if nothing clears the gradients before it."""
    step = next((one for one in analysis.events_of(optimizer, "step") if one.index > backward.index), None)
    if step is None or not step.certain:
        return None
    between = analysis.trace.events[backward.index : step.index]
    if any(one.kind == "zero_grad" for one in between):
        return None
    later = step.loops[-1:] and step.loops[-1].execution != backward.loops[-1].execution
    return None if later and (unseen(analysis, "zero_grad") or changes_gradients(analysis)) else step


def _alternates(analysis: Analysis, backward: Event, switch: Event, training: list[Event]) -> bool:
    """Whether rounds of training come before and after one of evaluation, in a loop around them and over other batches."""
    batches, around = backward.loops[-1], {point.execution for point in backward.loops[:-1]}
    rounds = [one for one in training if any(point.execution in around for point in one.loops)]
    before = [one for one in rounds if one.index < switch.index]
    after = [one for one in rounds if one.index > backward.index]
    if not before or not after or not all(_is_other(one, backward) for one in (before[-1], after[0])):
        return False
    return not reads_gradients_in(analysis, batches)


def _is_other(one: Event, other: Event) -> bool:
    """Whether the loops around two events go over different batches, as far as is known or written."""
    if one.loops[-1].execution == other.loops[-1].execution:
        return False
    first, second = (_batches(event) for event in (one, other))
    if isinstance(first, ast.expr) and isinstance(second, ast.expr):
        return ast.unparse(first) != ast.unparse(second)
    return first is not second and not made_alike(first, second)


def _batches(event: Event) -> Value | ast.expr:
    """The iterable of the loop around an event: a value where it is known, otherwise as it is written."""
    point = event.loops[-1]
    written = point.node.iter if isinstance(point.node, ast.For) else None
    while isinstance(written, ast.Call) and written.args:
        written = written.args[0]
    frame: Scene | None = event.site.scene
    while frame is not None and not holds(frame, point):
        frame = frame.caller
    held = frame.names.get(written.id) if frame is not None and isinstance(written, ast.Name) else None
    if point.loader is not None:
        return point.loader
    # Two results that are not known may be one loader, two arguments are two.
    return written if held is None or (isinstance(held, Unknown) and held.reason is not Reason.ARGUMENT) else held
