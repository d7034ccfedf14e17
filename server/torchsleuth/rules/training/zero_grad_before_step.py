"""zero-grad-before-step: gradients are cleared before the optimizer has used them.

What it finds
    backward(), then zero_grad() of the same optimizer or model, then step(), with no backward() between the last two: in
    one iteration, or from one to the next where step() stands before backward().
Why it hurts
    step() sees no gradient. The loop runs and no parameter changes.
Example
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
Use instead
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
Fix safety
    Safe: the gradients are cleared once per step, as before.
References
    torch.optim.Optimizer.zero_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import parts_of
from torchsleuth.interp.library.optim import given_to, trained_parts
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds
from torchsleuth.rules.evidence.loops import (
    common_loop,
    is_alone,
    is_simple,
    receiver_text,
    same_block,
    same_iteration,
    statement_of,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, moved_after
from torchsleuth.sifting import as_kind
from torchsleuth.values import UNKNOWN, LibraryObject, Value

CODE = "TS504"


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    if changes_gradients(analysis):
        return
    reported: set[object] = set()
    for step in events:
        if step.kind != "step" or not isinstance(step.subject, LibraryObject):
            continue
        if step.site.span in reported:
            continue
        clearing = _clearing(analysis, step)
        wasted = _wasted(events, step) if clearing is None else None
        if clearing is not None or wasted is not None:
            reported.add(step.site.span)
        if clearing is not None:
            yield _finding(analysis, clearing, step)
        elif wasted is not None:
            yield _too_early(analysis, step, *wasted)


def _clearing(analysis: Analysis, step: Event) -> Event | None:
    """The zero_grad() right before a step, with a backward() of the same iteration before it that gave gradients."""
    clearing: Event | None = None
    for event in reversed(analysis.trace.events[: step.index]):
        if not same_iteration(step, event) or (event.kind == "step" and event.subject is step.subject):
            return None
        if event.kind == "backward" and feeds(event, step.subject) is not False:
            return clearing
        if event.kind == "zero_grad" and _clears(event, step.subject):
            if not event.certain and not same_block(analysis, event, step):
                return None
            clearing = clearing or event
    return None


def _wasted(events: list[Event], step: Event) -> tuple[Event, Event] | None:
    """A backward() of the iteration before, and the zero_grad() that takes its gradients away before this step."""
    clearing: Event | None = None
    for event in reversed(events[: step.index]) if step.certain else ():
        if common_loop(event, step) is None or (event.kind == "step" and event.subject is step.subject):
            return None
        if event.kind == "backward" and feeds(event, step.subject) is not False:
            return (event, clearing) if clearing is not None and event.certain else None
        if event.kind == "zero_grad" and event.certain and _clears(event, step.subject):
            clearing = clearing or event
    return None


def _clears(event: Event, optimizer: Value) -> bool:
    """Whether all gradients of an optimizer are gone."""
    if event.subject is optimizer:
        return True
    cleared = {id(part) for part in parts_of(event.subject)}
    given = trained_parts(optimizer)
    return bool(given) and UNKNOWN not in given_to(optimizer) and all(id(part) in cleared for part in given)


def _finding(analysis: Analysis, clearing: Event, step: Event) -> Finding:
    name = receiver_text(clearing.site) or "zero_grad()"
    places = (step.site.span.related(message("zero_grad.step.empty")),)
    text = message("zero_grad.early", call=f"`{name}.zero_grad()`", line=step.site.span.start.line)
    return Finding(clearing.site.span, text, places, _moved(analysis, clearing, step))


def _too_early(analysis: Analysis, step: Event, backward: Event, clearing: Event) -> Finding:
    places = tuple(
        event.site.span.related(message(key))
        for event, key in ((backward, "step.early.backward"), (clearing, "step.early.zero_grad"))
    )
    text = message(
        "step.early",
        line=backward.site.span.start.line,
        clearing=f"`{receiver_text(clearing.site)}.zero_grad()`",
    )
    return Finding(step.site.span, text, places, _moved(analysis, step, backward))


def _moved(analysis: Analysis, one: Event, other: Event) -> Iterator[Candidate]:
    """A statement put behind another one."""
    path = one.site.span.path
    early, late = as_kind(statement_of(analysis, one.site), ast.Expr), statement_of(analysis, other.site)
    if early is None or late is None or other.site.span.path != path or early is late:
        return
    source = analysis.source_of(path)
    if is_alone(early, analysis, path) and is_simple(late, analysis, path):
        yield moved_after(source, early, late)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
