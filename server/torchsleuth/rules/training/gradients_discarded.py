"""gradients-discarded: accumulated gradients that are cleared before the step that is to use them.

What it finds
    A loop that steps every few iterations, but clears the gradients in each of them, so that those of all the other
    backward() calls are thrown away.
Why it hurts
    Nothing accumulates. The batch is as small as ever, and all but one of several forward and backward passes are wasted.
Example
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        (criterion(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
Use instead
    for i, (x, y) in enumerate(loader):
        (criterion(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
Fix safety
    Safe: the gradients are cleared after each step instead.
References
    torch.optim.Optimizer.zero_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import feeds, reads_gradients_in
from torchsleuth.rules.evidence.loops import (
    blocks_of,
    innermost,
    is_alone,
    is_simple,
    receiver_text,
    recurs,
    statement_of,
    trained_by,
    unseen,
)
from torchsleuth.rules.evidence.schedules import every_kth
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject, is_module

CODE = "TS525"


def find(analysis: Analysis) -> Iterator[Finding]:
    modules = [event for event in analysis.events("zero_grad") if is_module(event.subject)]
    each = (_wasted(analysis, optimizer, modules) for optimizer in analysis.trace.optimizers)
    found = [wasted for wasted in each if wasted is not None]
    if found and not unseen(analysis, "step"):
        for backward, clearing, step in found:
            point = innermost(clearing)
            if point is None or reads_gradients_in(analysis, point):
                continue
            text = message("zero_grad.accumulated", line=step.site.span.start.line)
            places = (
                backward.site.span.related(message("step.early.backward")),
                step.site.span.related(message("zero_grad.accumulated.step")),
            )
            yield Finding(clearing.site.span, text, places, tuple(_moved(analysis, clearing, step)))


def _wasted(analysis: Analysis, optimizer: LibraryObject, modules: list[Event]) -> tuple[Event, Event, Event] | None:
    """A backward() in one iteration of a loop and the zero_grad() in the next that throws away what it gave, in a loop that
    steps now and then: the backward(), the zero_grad() and a step. `modules`: the zero_grad() of modules."""
    if optimizer.identity in analysis.trace.escaped:
        return None
    pending: Event | None = None
    for event in _around(analysis, optimizer, modules):
        if event.kind == "step":
            if event.certain or event.subject is not optimizer or every_kth(analysis, event) is None:
                pending = None  # also of another optimizer: the backward() was for that one
        elif event.kind == "backward":
            pending = event if event.certain and feeds(event, optimizer) is True else None
        elif event.kind == "zero_grad" and event.certain and pending is not None and _clears(event, optimizer):
            point, before = innermost(event), innermost(pending)
            if point is not None and before is not None and point.execution == before.execution:
                step = _step_within(analysis, pending, optimizer)
                if step is not None and (point.iteration > before.iteration or _follows(analysis, event, step)):
                    return pending, event, step
                if point.iteration > before.iteration:
                    return None
            pending = None
    return None


def _around(analysis: Analysis, optimizer: LibraryObject, modules: list[Event]) -> list[Event]:
    """The events of the loops in which an optimizer, or a module, clears gradients, in order."""
    own = [*analysis.events_of(optimizer, "zero_grad"), *modules]
    points = {point.execution: point for event in own for point in event.loops}
    found = {event.index: event for point in points.values() for event in analysis.events_within(point)}
    return [found[number] for number in sorted(found)]


def _clears(event: Event, optimizer: LibraryObject) -> bool:
    if isinstance(event.subject, LibraryObject):
        given = {id(part) for part in trained_parts(event.subject)}
        return all(id(part) in given for part in trained_parts(optimizer))
    return trained_by(optimizer, event.subject)


def _step_within(analysis: Analysis, backward: Event, optimizer: LibraryObject) -> Event | None:
    """A step of the optimizer in the same loop that is taken now and then, with no backward() of its own, and was not taken
    in the iteration of the backward()."""
    point = innermost(backward)
    inside = analysis.events_within(point) if point is not None else []
    feeding = [event for event in inside if event.kind == "backward" and feeds(event, optimizer) is not False]
    steps = [event for event in inside if event.kind == "step" and event.subject is optimizer]
    sites = {event.site.span for event in feeding}
    taken = any(innermost(step) == point and (step.certain or every_kth(analysis, step) is None) for step in steps)
    if taken or not steps or len(sites) != 1 or not all(recurs(analysis, step) for step in steps):
        return None
    return steps[0]


def _follows(analysis: Analysis, clearing: Event, step: Event) -> bool:
    """Whether the gradients are cleared below the step, in the same iteration where it is taken."""
    again = [event for event in analysis.events("zero_grad") if event.site.span == clearing.site.span]
    return any(event.index > step.index and innermost(event) == innermost(step) for event in again)


def _moved(analysis: Analysis, clearing: Event, step: Event) -> Iterator[Candidate]:
    """The zero_grad() below the step."""
    path = clearing.site.span.path
    here, there = statement_of(analysis, clearing.site), statement_of(analysis, step.site)
    if here is None or there is None or path != step.site.span.path:
        return
    source, name = analysis.source_of(path), receiver_text(clearing.site)
    if name and is_alone(here, analysis, path) and is_simple(there, analysis, path):
        text = source.segment(here)
        block = next((block for block in blocks_of(analysis.tree(path)) if there in block), [there])
        following = block[block.index(there) + 1 :]
        if any(source.segment(one) == text and one is not here for one in of_kind(following, ast.Expr)):
            title = message("fix.remove_line", text=text, line=here.lineno)
            yield Candidate(title, (edits.remove_line(source, here.lineno),))
            return
        changes = (edits.remove_line(source, here.lineno), edits.insert_line_after(source, there, text))
        yield Candidate(message("fix.move_after", text=text, line=there.lineno), changes)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
