"""missing-backward: an optimizer that steps without gradients.

What it finds
    A training loop that computes a loss and calls optimizer.step() in every iteration, with no backward() between.
Why it hurts
    step() skips parameters without a gradient. The loop runs, the loss is printed, and nothing is learnt.
Example
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        optimizer.step()
Use instead
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
Fix safety
    Safe: without backward() the step does nothing.
References
    torch.Tensor.backward, torch.optim.Optimizer.step
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import is_stand_in, parts_of
from torchsleuth.interp.trace import Event, LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds
from torchsleuth.rules.evidence.loops import (
    common_loop,
    is_simple,
    optimizer_text,
    same_iteration,
    statement_of,
    trained_by,
    uncalled,
    unseen,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, stores
from torchsleuth.values import LibraryObject, Tensor

CODE = "TS502"
_BY_HAND = ("torch.autograd.backward", "torch.autograd.grad", "torch.func.grad", "torch.func.grad_and_value")


def find(analysis: Analysis) -> Iterator[Finding]:
    trace = analysis.trace
    # A backward() that reaches no parameter is what TS401 and its like find.
    reaches_nothing = any(fault.kind in ("no_graph", "severed") for fault in trace.autograd)
    if reaches_nothing or any(path in analysis.calls for path in _BY_HAND):
        return
    found = [between for optimizer in trace.optimizers if (between := _without_gradients(analysis, optimizer))]
    if found and not unseen(analysis, "backward") and not changes_gradients(analysis):
        for forward, step in found:
            yield _finding(analysis, forward, step)
    yield from _adversaries(analysis)


def _adversaries(analysis: Analysis) -> Iterator[Finding]:
    """Two networks, of which nothing else is known, and an optimizer for each: both go backward through the same one, for the second
    time with what the other one has made, detached."""
    detached = analysis.calls.get("Tensor.detach", ())
    told: set[Span] = set()
    for made in analysis.events("forward") if detached else ():
        put = (event for event in analysis.events("train") if event.subject is made.subject and event.certain)
        if not (is_stand_in(made.subject) and made.grad and made.loops and any(put)):
            continue
        rest = [event for event in analysis.trace.events[made.index :] if same_iteration(made, event) and event.certain]
        passes = [event for event in rest if event.kind == "backward"]
        steps = [event for event in rest if event.kind == "step"]
        if len(passes) != 2 or len(steps) != 2 or steps[0].subject is steps[1].subject:
            continue
        first, second = passes
        in_turn = first.index < steps[0].index < second.index < steps[1].index
        reached = [event.node.reached if event.node is not None else None for event in passes]
        cuts = [call for call in detached if call.receiver is made.tensor and first.index < call.after <= second.index]
        if not (in_turn and cuts and reached[0] is not None and reached[0] == reached[1] and reached[0][1]):
            continue
        span = steps[1].site.span
        if span not in told and not reached[0][0] & {id(part) for part in parts_of(made.subject)}:
            told.add(span)
            name = optimizer_text(analysis, steps[1])
            text = message(
                "backward.missing.cut",
                optimizer=f"`{name}`" if name else "the optimizer",
                line=cuts[0].site.span.start.line,
            )
            places = (
                cuts[0].site.span.related(message("backward.missing.detached")),
                made.site.span.related(message("backward.missing.forward")),
            )
            yield Finding(span, text, places, tuple(_attached(cuts[0])))


def _without_gradients(analysis: Analysis, optimizer: LibraryObject) -> tuple[Event, Event] | None:
    """A forward and the step after it, if no step of the optimizer has gradients."""
    events = analysis.trace.events
    steps = analysis.events_of(optimizer, "step")
    steps = [step for step in steps if not any(point.joined for point in step.loops)]
    if optimizer.identity in analysis.trace.escaped or not all(step.certain for step in steps):
        return None
    for first, second in zip(steps, steps[1:]):
        if common_loop(first, second) is None or _has_gradients(events[: second.index], optimizer):
            continue
        forward = _unused(analysis, first, second)
        if forward is not None:
            return forward, second
    return None


def _has_gradients(events: list[Event], optimizer: LibraryObject) -> bool:
    """Whether some backward() may have given gradients to an optimizer, that it did not clear again."""
    for event in reversed(events):
        if event.kind == "zero_grad" and event.certain and event.subject is optimizer:
            return False
        if event.kind == "backward" and feeds(event, optimizer) is not False:
            return True
    return False


def _unused(analysis: Analysis, first: Event, second: Event) -> Event | None:
    """The last forward between two steps of one loop, if nothing ever takes its graph."""
    recorded = [
        event
        for event in analysis.trace.events[first.index : second.index]
        if event.kind == "forward"
        and event.grad
        and event.certain
        and event.tensor is not None
        and event.tensor.spec.requires_grad is True
        and trained_by(second.subject, event.subject)
    ]
    if not recorded or any(event.forward_id in analysis.trace.consumed for event in recorded):
        return None
    return recorded[-1]


def _finding(analysis: Analysis, forward: Event, step: Event) -> Finding:
    name = optimizer_text(analysis, step)
    places = (forward.site.span.related(message("backward.missing.forward")),)
    loss = _loss_name(analysis, step)
    cut = _cut(analysis, forward, step)
    if cut is not None:
        text = message(
            "backward.missing.cut", optimizer=f"`{name}`" if name else "the optimizer", line=cut.site.span.start.line
        )
        place = cut.site.span.related(message("backward.missing.detached"))
        return Finding(step.site.span, text, (place, *places), tuple(_attached(cut)))
    text = message(
        "backward.missing",
        optimizer=f"`{name}`" if name else "the optimizer",
        loss=f"`{loss}`" if loss else "the loss",
    )
    return Finding(step.site.span, text, places, _inserted(analysis, forward, step, loss))


def _cut(analysis: Analysis, forward: Event, step: Event) -> LibraryCall | None:
    """Where the graph of the forward is cut off, if something does go backward before the step."""
    between = analysis.trace.events[forward.index : step.index]
    if not any(event.kind == "backward" and same_iteration(step, event) for event in between):
        return None
    calls = analysis.calls.get("Tensor.detach", ())
    return next((call for call in calls if call.receiver is forward.tensor), None)


def _attached(cut: LibraryCall) -> Iterator[Candidate]:
    """The same without ``.detach()``."""
    edit = edits.without_attribute(cut.site.source, cut.site.node, "detach")
    if edit is not None:
        yield Candidate(message("fix.remove", text=".detach()"), (edit,), safe=False)


def _loss_name(analysis: Analysis, step: Event) -> str | None:
    """The scalar that was assigned last before the step, in the same function, or else one that it was given."""
    held, function = step.site.scene.names, step.site.scene.function
    line = step.site.span.start.line
    found: list[tuple[bool, int, str]] = []
    for argument in function.node.args.args if function is not None else ():
        value = held.get(argument.arg)
        if isinstance(value, Tensor) and value.spec.shape == () and value.spec.requires_grad:
            found.append(("loss" in argument.arg.lower(), argument.lineno, argument.arg))
    for node in analysis.index(step.site.span.path).of_type(ast.Name):
        if stores(node) and node.lineno < line:
            value = held.get(node.id)
            named = "loss" in node.id.lower()
            if isinstance(value, Tensor) and value.spec.shape == () and (named or value.spec.requires_grad):
                found.append((named, node.lineno, node.id))
    return max(found)[2] if found else None


def _inserted(analysis: Analysis, forward: Event, step: Event, loss: str | None) -> Iterator[Candidate]:
    """``loss.backward()`` before what reads the gradients: a clipping, or the step."""
    readers = [
        event
        for event in analysis.trace.events[forward.index : step.index + 1]
        if event.kind in ("clip", "unscale", "scaler_step", "step")
        and same_iteration(step, event)
        and event.site.scene.function is step.site.scene.function
    ]
    path = step.site.span.path
    forgotten = uncalled(analysis, path, loss, "backward") if loss else None
    if forgotten is not None:
        edit = edits.insert_after_node(analysis.source_of(path), forgotten, "()")
        yield Candidate(message("fix.parentheses", text=f"{loss}.backward"), (edit,))
        return
    yield from _of_scaled(analysis, forward, step)
    statement = statement_of(analysis, readers[0].site)
    if loss is not None and statement is not None and is_simple(statement, analysis, path):
        text = f"{loss}.backward()"
        yield Candidate(
            message("fix.insert", text=text), (edits.insert_line_before(analysis.source_of(path), statement, text),)
        )


def _of_scaled(analysis: Analysis, forward: Event, step: Event) -> Iterator[Candidate]:
    """``scaler.scale(loss)`` as a statement of its own, and ``scaler.scale(loss).backward``."""
    for event in analysis.trace.events[forward.index : step.index]:
        statement = as_kind(statement_of(analysis, event.site), ast.Expr) if event.kind == "scale" else None
        value = statement.value if statement is not None else None
        source = event.site.source
        if is_attribute(value, "backward"):
            text = f"{source.segment(value)}"
            yield Candidate(message("fix.parentheses", text=text), (edits.insert_after_node(source, value, "()"),))
        elif isinstance(value, ast.Call) and source.span(value) == event.site.span:
            text = f"{source.segment(value)}.backward()"
            title = message("fix.replace", old=source.segment(value), new=text)
            yield Candidate(title, (edits.insert_after_node(source, value, ".backward()"),))


RULE = Rule(FAULTS[CODE], find, of_absence=True)
