"""missing-step: gradients are computed, and no optimizer ever uses them.

What it finds
    A training loop with an optimizer and a backward() in every iteration, in which that optimizer never steps.
Why it hurts
    The loop runs, takes its time, and no parameter changes.
Example
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
Use instead
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
Fix safety
    Safe: an optimizer that never steps has no other use.
References
    torch.optim.Optimizer.step
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import feeds, reads_gradients
from torchsleuth.rules.evidence.loops import (
    common_loop,
    is_simple,
    name_in,
    receiver_text,
    same_iteration,
    statement_of,
    uncalled,
    unseen,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import nodes_in
from torchsleuth.values import LibraryObject, is_unknown

CODE = "TS503"


def find(analysis: Analysis) -> Iterator[Finding]:
    trace = analysis.trace
    stepped = [event.subject for event in trace.events if event.kind == "step"]
    if any(is_unknown(optimizer) for optimizer in stepped):
        return
    found: list[tuple[LibraryObject, Event]] = []
    for optimizer in trace.optimizers:
        parts = trained_parts(optimizer)
        if optimizer.identity in trace.escaped or not parts or any(other is optimizer for other in stepped):
            continue
        if optimizer.site is None and not any(event.subject is optimizer for event in trace.events):
            continue  # one that only stands for what a library gives back
        fills = [event for event in trace.events if _fills(trace.events, event, optimizer)]
        backward = fills[0] if fills else None
        if backward is not None and _moved_by_others(trace.events, backward, optimizer):
            backward = next((event for event in fills if _is_left(trace.events, event, optimizer)), None)
        # TS515 tells of the step that a scaler should have asked for.
        if backward is not None and not _near_update(trace.events, backward):
            found.append((optimizer, backward))
    if found and not unseen(analysis, "step") and not reads_gradients(analysis):
        for optimizer, backward in found:
            yield _finding(analysis, optimizer, backward)


def _fills(events: list[Event], event: Event, optimizer: LibraryObject) -> bool:
    """A backward() in a loop that computes gradients for the optimizer. Where it is not known for whom it does so, it
    counts if the loop clears this optimizer and steps none."""
    if event.kind != "backward" or not event.loops:
        return False
    fed = feeds(event, optimizer)
    if fed is None:
        near = [other for other in events if common_loop(event, other) is not None]
        cleared = any(other.kind == "zero_grad" and other.subject is optimizer for other in near)
        return cleared and event.certain and not any(other.kind == "step" for other in near)
    return fed


def _is_left(events: list[Event], backward: Event, optimizer: LibraryObject) -> bool:
    """Whether a loop clears this optimizer, so that it has to be the one that steps there."""
    near = [event for event in events if common_loop(backward, event) is not None]
    cleared = any(event.kind == "zero_grad" and event.subject is optimizer for event in near)
    return cleared and not _moved_by_others(events, backward, optimizer)


def _near_update(events: list[Event], backward: Event) -> bool:
    """Whether the same loop updates a scaler."""
    return any(event.kind == "scaler_update" and common_loop(backward, event) is not None for event in events)


def _moved_by_others(events: list[Event], backward: Event, optimizer: LibraryObject) -> bool:
    """Whether another optimizer changes some of the same parameters in the same loop."""
    own = {id(part) for part in trained_parts(optimizer)}
    steps = [event for event in events if event.kind == "step" and common_loop(backward, event) is not None]
    return any(id(part) in own for step in steps for part in trained_parts(step.subject))


def _finding(analysis: Analysis, optimizer: LibraryObject, backward: Event) -> Finding:
    events = analysis.trace.events
    cleared = [event for event in events if event.kind == "zero_grad" and event.subject is optimizer]
    frame = backward.site.scene
    name = next((receiver_text(e.site) for e in cleared if e.site.scene.function is frame.function), None)
    name = name or name_in(frame, optimizer)
    places: tuple[Related, ...] = ()
    if optimizer.site is not None:
        places = (optimizer.site.span.related(message("step.missing.optimizer")),)
    text = message("step.missing", optimizer=f"`{name}`" if name else f"the {optimizer.type_name} optimizer")
    return Finding(backward.site.span, text, places, _inserted(analysis, backward, name))


def _inserted(analysis: Analysis, backward: Event, name: str | None) -> Iterator[Candidate]:
    """``optimizer.step()`` after the last thing that is done to the gradients, or before they are cleared."""
    rest = [event for event in analysis.trace.events[backward.index :] if same_iteration(backward, event)]
    here = [event for event in rest if event.site.scene == backward.site.scene]
    done = [event for event in here if event.kind in ("backward", "clip", "unscale")]
    path = backward.site.span.path
    source = analysis.source_of(path)
    if name is None:
        return
    forgotten = uncalled(analysis, path, name, "step")
    if forgotten is not None:
        edit = edits.insert_after_node(source, forgotten, "()")
        yield Candidate(message("fix.parentheses", text=f"{name}.step"), (edit,))
        return
    text = f"{name}.step()"
    clearing = _clearing(analysis, backward, name)
    if clearing is not None and is_simple(clearing, analysis, path):
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_before(source, clearing, text),))
        return
    statement = as_kind(statement_of(analysis, done[-1].site), ast.Expr, ast.Assign)
    if statement is not None and is_simple(statement, analysis, path):
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_after(source, statement, text),))


def _clearing(analysis: Analysis, backward: Event, name: str) -> ast.stmt | None:
    """``optimizer.zero_grad()`` below the backward() in the same loop: a step is due right before it."""
    statement = statement_of(analysis, backward.site)
    if statement is None:
        return None
    around = analysis.trail(backward.site.span.path, statement)
    loop = first_of(reversed(around), ast.For, ast.While)
    for node in nodes_in(loop, ast.Expr) if loop is not None else ():
        if isinstance(node.value, ast.Call) and node.lineno > statement.lineno:
            if ast.unparse(node.value.func) == f"{name}.zero_grad":
                return node
    return None


RULE = Rule(FAULTS[CODE], find, of_absence=True)
