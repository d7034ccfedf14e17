"""missing-zero-grad: gradients pile up from step to step.

What it finds
    An optimizer that steps again and again in a loop, with a backward() before each step, while nothing in that loop
    clears the gradients: no optimizer.zero_grad(), no model.zero_grad(), no `grad = None`. Also the closure of LBFGS,
    which every step calls several times.
Why it hurts
    backward() adds to `.grad`. Without clearing, each step follows the sum of all gradients so far; training drifts
    or diverges without an error.
Example
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
Use instead
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
Fix safety
    Safe: a loop that means to accumulate clears its gradients after a step, and then the rule is silent.
References
    torch.optim.Optimizer.zero_grad
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds, may_clear
from torchsleuth.rules.evidence.loops import (
    common_loop,
    is_simple,
    name_in,
    optimizer_text,
    recurs,
    statement_of,
    uncalled,
    unseen,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject
from torchsleuth.values.frames import Scene

CODE = "TS501"


def find(analysis: Analysis) -> Iterator[Finding]:
    found: list[tuple[LibraryObject, tuple[Event, Event]]] = []
    for optimizer in analysis.trace.optimizers:
        piled = _in_closure if optimizer.type_name == "LBFGS" else _piled_up
        between = piled(analysis, optimizer)
        if between is not None:
            found.append((optimizer, between))
    if found and not unseen(analysis, "zero_grad") and not changes_gradients(analysis):
        for optimizer, (backward, step) in found:
            yield _finding(analysis, optimizer, backward, step)


def _piled_up(analysis: Analysis, optimizer: LibraryObject) -> tuple[Event, Event] | None:
    """The last backward() between two steps of an optimizer in a loop that never clears what the one before left."""
    events = analysis.trace.events
    if optimizer.identity in analysis.trace.escaped:
        return None
    steps = analysis.events_of(optimizer, "step")
    steps = [step for step in steps if recurs(analysis, step)]
    cleared_within: dict[int, bool] = {}
    for first, second in zip(steps, steps[1:]):
        point = common_loop(first, second)
        if point is None:
            continue
        if point.execution not in cleared_within:
            inside = analysis.events_within(point)
            # Whoever calls a step of a training may clear before it, unless the step itself does so for others.
            by_caller = point.supposed and not any(event.kind == "zero_grad" for event in inside)
            cleared_within[point.execution] = by_caller or any(may_clear(event, optimizer) for event in inside)
        if cleared_within[point.execution]:
            continue
        cleared = [event.index for event in events[: first.index] if may_clear(event, optimizer)]
        before = _last_backward(analysis, events[max(cleared, default=0) : first.index], optimizer)
        between = _last_backward(analysis, events[first.index : second.index], optimizer)
        if before is not None and between is not None:
            return between, second
    return None


def _in_closure(analysis: Analysis, optimizer: LibraryObject) -> tuple[Event, Event] | None:
    """The second backward() of a closure that one step of LBFGS calls again and again, where nothing clears what the first
    one left."""
    if optimizer.identity in analysis.trace.escaped:
        return None
    for step in analysis.events("step"):
        if step.subject is not optimizer:
            continue
        inside = [event for event in analysis.trace.events[: step.index] if _is_called_by(event, step)]
        fed = [event for event in inside if event.kind == "backward" and event.certain]
        fed = [event for event in fed if feeds(event, optimizer) is True]
        if len(fed) > 1 and not any(may_clear(event, optimizer) for event in inside):
            return fed[1], step
    return None


def _is_called_by(event: Event, step: Event) -> bool:
    """Whether an event happened in the closure that a step calls."""
    frame: Scene | None = event.site.scene
    while frame is not None:
        if frame.call is step.site.node:
            return event.loops[: len(step.loops)] == step.loops
        frame = frame.caller
    return False


def _last_backward(analysis: Analysis, events: list[Event], optimizer: LibraryObject) -> Event | None:
    """The last backward() that gives gradients to an optimizer, or may do so."""
    fed = [event for event in events if event.kind == "backward" and recurs(analysis, event)]
    return next((event for event in reversed(fed) if feeds(event, optimizer) is not False), None)


def _finding(analysis: Analysis, optimizer: LibraryObject, backward: Event, step: Event) -> Finding:
    name = optimizer_text(analysis, step)
    shown = f"`{name}`" if name else "the optimizer"
    places = (step.site.span.related(message("zero_grad.step", optimizer=shown)),)
    closure = optimizer.type_name == "LBFGS"
    text = message("zero_grad.missing.closure" if closure else "zero_grad.missing", optimizer=shown)
    return Finding(backward.site.span, text, places, _repairs(analysis, optimizer, backward, step))


def _repairs(analysis: Analysis, optimizer: LibraryObject, backward: Event, step: Event) -> Iterator[Candidate]:
    """``optimizer.zero_grad()`` before backward(), or after the step where only that function knows the optimizer."""
    path, name = backward.site.span.path, optimizer_text(analysis, step)
    if backward.site.scene.function is not step.site.scene.function or path != step.site.span.path:
        name = name_in(backward.site.scene, optimizer)
    forgotten = uncalled(analysis, path, name, "zero_grad") if name else None
    if forgotten is not None:
        edit = edits.insert_after_node(analysis.source_of(path), forgotten, "()")
        yield Candidate(message("fix.parentheses", text=f"{name}.zero_grad"), (edit,))
        return
    statement = statement_of(analysis, backward.site)
    if name and statement is not None and is_simple(statement, analysis, path):
        edit = edits.insert_line_before(analysis.source_of(path), statement, f"{name}.zero_grad()")
        yield Candidate(message("fix.zero_grad", optimizer=name), (edit,))
    if optimizer.type_name == "LBFGS":
        return
    name, path, statement = optimizer_text(analysis, step), step.site.span.path, statement_of(analysis, step.site)
    if name and statement is not None and is_simple(statement, analysis, path):
        edit = edits.insert_line_after(analysis.source_of(path), statement, f"{name}.zero_grad()")
        yield Candidate(message("fix.zero_grad_after", optimizer=name), (edit,))


RULE = Rule(FAULTS[CODE], find, of_absence=True)
