"""missing-zero-grad: gradients pile up from step to step.

What it finds
    An optimizer that steps again and again, with a backward() before each step, while nothing ever clears the
    gradients: no optimizer.zero_grad(), no model.zero_grad(), no `grad = None`, anywhere.
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
    Safe: a loop that means to accumulate clears its gradients at some point, and then the rule is silent.
References
    torch.optim.Optimizer.zero_grad
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.interp.trace import Event
from torchsleuth.interp.values import UNKNOWN, LibraryObject
from torchsleuth.messages import message
from torchsleuth.rules.loops import is_simple, receiver_text, statement_of, trained_by
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.syntax import edits

CODE = "TS501"


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    if any(event.kind == "grad_touched" for event in events):
        return
    for optimizer in analysis.trace.optimizers:
        if "LBFGS" in optimizer.path or any(_clears(event, optimizer) for event in events):
            continue
        steps = [event for event in events if event.kind == "step" and event.subject is optimizer]
        between = _repeated(events, steps)
        if between is not None:
            yield _finding(analysis, *between)


def _clears(event: Event, optimizer: LibraryObject) -> bool:
    if event.kind != "zero_grad":
        return False
    return event.subject is optimizer or not isinstance(event.subject, LibraryObject) and _may_clear(event, optimizer)


def _may_clear(event: Event, optimizer: LibraryObject) -> bool:
    from torchsleuth.rules.loops import modules_of

    return event.subject is UNKNOWN or not modules_of(optimizer) or trained_by(optimizer, event.subject)


def _repeated(events: list[Event], steps: list[Event]) -> tuple[Event, Event] | None:
    """A backward between two certain steps of one optimizer: the gradients of the first are still there."""
    certain = [step for step in steps if step.certain and step.loops]
    for first, second in zip(certain, certain[1:]):
        for event in events[first.index : second.index]:
            if event.kind == "backward" and event.certain and event.tensor is not None:
                return event, second
    return None


def _finding(analysis: Analysis, backward: Event, step: Event) -> Finding:
    name = receiver_text(analysis, step.site) or "the optimizer"
    span = step.site.span
    places = (Related(span.path, span.start, span.end, message("zero_grad.step", optimizer=f"`{name}`")),)
    candidates: list[Candidate] = []
    statement = statement_of(analysis, backward.site)
    same_scope = backward.site.frame is step.site.frame or backward.site.frame.function is step.site.frame.function
    if statement is not None and same_scope and is_simple(statement, analysis, backward.site.span.path):
        source = analysis.source_of(backward.site.span.path)
        edit = edits.insert_line_before(source, statement, f"{name}.zero_grad()")
        candidates.append(Candidate(message("fix.zero_grad", optimizer=name), (edit,)))
    text = message("zero_grad.missing", optimizer=f"`{name}`")
    return Finding(backward.site.span, text, places, tuple(candidates))


RULE = Rule(CODE, "missing-zero-grad", "warning", "training loop", __doc__, find)
