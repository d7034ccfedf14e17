"""backward-outside-loop: a pass over the data that trains on its last batch alone.

What it finds
    A loop over batches that computes a loss in every iteration, while backward() stands below the loop: by then the loss
    is that of the last batch, and those of all the others are forgotten. A loop that clears the gradients and goes backward in
    every iteration, with the step() of the optimizer below it.
Why it hurts
    One batch an epoch is trained on. The loop runs at full cost, and learns next to nothing.
Example
    for x, y in loader:
        loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
Use instead
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
Fix safety
    Unsafe: the lines move into the loop; whoever meant to sum the losses up writes `loss = loss + …`.
References
    torch.Tensor.backward
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import common_loop, draws_again, receiver_text, statement_of, trained_by
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, is_name, names_in, nodes_in, plain_name, stores

CODE = "TS523"
_TRAINING = frozenset("zero_grad backward step clip scale unscale scaler_step scaler_update".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[object] = set()
    for backward in analysis.events("backward"):
        if backward.site.span in seen or not backward.certain:
            continue
        seen.add(backward.site.span)
        loop = _loop_above(analysis, backward)
        if loop is not None and _forgets(analysis, backward, loop):
            source = backward.site.source
            text = message("backward.outside", loss=f"`{_receiver(backward)}`", line=loop.lineno)
            place = source.span(loop.iter if isinstance(loop, ast.For) else loop).related(
                message("backward.outside.loop")
            )
            yield Finding(backward.site.span, text, (place,), tuple(_moved(analysis, backward, loop)))
    for step in analysis.events("step"):
        loop = _loop_without(analysis, step) if step.site.span not in seen and step.certain else None
        if loop is not None:
            seen.add(step.site.span)
            yield _of_step(analysis, step, loop)


def _loop_without(analysis: Analysis, step: Event) -> ast.For | None:
    """The loop above a step() in the same block of which every iteration clears the gradients and goes backward, and none steps."""
    statement = statement_of(analysis, step.site)
    around = analysis.trail(step.site.span.path, statement) if statement is not None else []
    block = getattr(around[-2], "body", []) if len(around) > 1 else []
    for part in reversed(block[: block.index(statement)] if statement in block else []):
        if isinstance(part, ast.For):
            before = [event for event in analysis.trace.events[: step.index] if _is_in(event, part, step)]
            sure = [event for event in before if event.certain and len(event.loops) == len(step.loops) + 1]
            cleared = [event for event in sure if event.kind == "zero_grad" and event.subject is step.subject]
            rounds = {event.loops[-1].iteration for event in cleared}
            learnt = {event.loops[-1].iteration for event in sure if event.kind == "backward"}
            stepped = any(event.kind == "step" for event in before)
            return part if len(rounds) > 1 and rounds == learnt and not stepped else None
    return None


def _of_step(analysis: Analysis, step: Event, loop: ast.For) -> Finding:
    source, statement = step.site.source, statement_of(analysis, step.site)
    text = message("step.outside", optimizer=f"`{receiver_text(step.site)}`", line=loop.lineno)
    place = source.span(loop.iter).related(message("backward.outside.loop"))
    changes = edits.relocate(source, [statement], loop.body[-1]) if statement is not None else ()
    title = message("fix.move_into", text=source.segment(statement) if statement is not None else "", line=loop.lineno)
    return Finding(step.site.span, text, (place,), (Candidate(title, changes),) if changes else ())


def _receiver(backward: Event) -> str | None:
    """The variable that goes backward."""
    node = backward.site.node
    held = node.func.value if is_method_call(node) else None
    if is_method_call(held, "scale") and held.args:
        held = held.args[0]
    return plain_name(held)


def _loop_above(analysis: Analysis, backward: Event) -> ast.For | None:
    """The loop in the same block, above the backward(), that sets the loss anew in every iteration."""
    name, statement = _receiver(backward), statement_of(analysis, backward.site)
    around = analysis.trail(backward.site.span.path, statement) if statement is not None else []
    if name is None or statement is None or len(around) < 2:
        return None
    found: ast.For | None = None
    for part in getattr(around[-2], "body", []):
        if part is statement:
            return found
        sets = [node for node in ast.walk(part) if is_name(node, name) and stores(node)]
        if sets:
            plain = [one for one in nodes_in(part, ast.Assign) if _is_plain(one, name)]
            found = (
                part if isinstance(part, ast.For) and len(plain) == len(sets) and _always(part.body, plain) else None
            )
    return None


def _always(block: list[ast.stmt], wanted: list[ast.Assign]) -> bool:
    """Whether every way through a block goes over one of these statements."""
    for part in block:
        if part in wanted:
            return True
        match part:
            case ast.With() | ast.For() if _always(part.body, wanted):
                return True
            case ast.If() if _always(part.body, wanted) and _always(part.orelse, wanted):
                return True
    return False


def _is_plain(assignment: ast.Assign, name: str) -> bool:
    """Whether an assignment sets the name to something that its old value is no part of."""
    targets = [part for target in assignment.targets for part in ast.walk(target)]
    sets = any(is_name(part, name) for part in targets)
    return sets and name not in names_in(assignment.value)


def _forgets(analysis: Analysis, backward: Event, loop: ast.For) -> bool:
    """Whether the loop runs a model that is then trained in every iteration, on its own data, with a graph of its own, and
    nothing else in it takes that graph."""
    steps = [event for event in analysis.events("step") if event.index > backward.index]
    inside = [event for event in analysis.trace.events[: backward.index] if _is_in(event, loop, backward)]
    if any(event.kind in ("backward", "step") for event in inside):
        return False
    last = {event.loops[len(backward.loops)].execution for event in inside}
    forwards = [event for event in inside if event.kind == "forward" and event.grad is True and event.certain]
    forwards = [event for event in forwards if event.loops[len(backward.loops)].execution == max(last)]
    if not any(trained_by(step.subject, event.subject) for step in steps[:1] for event in forwards):
        return False
    first, *others = forwards
    again = [event for event in others if event.site.span == first.site.span and common_loop(first, event)]
    own = [event for event in again if event.tensor is not None and first.forward_id not in event.history]
    if not own or any(map(draws_again, (first, *own))) or _carries_on(loop):
        return False
    return not _collects(loop, str(_receiver(backward)))


def _is_in(event: Event, loop: ast.For, backward: Event) -> bool:
    """Whether an event happened in an iteration of the loop, right below the loops around the backward()."""
    depth = len(backward.loops)
    if len(event.loops) <= depth:
        return False
    outer = [(point.execution, point.iteration) for point in backward.loops]
    if [(point.execution, point.iteration) for point in event.loops[:depth]] != outer:
        return False
    node = event.loops[depth].node
    return (node.lineno, node.col_offset) == (loop.lineno, loop.col_offset)


def _carries_on(loop: ast.For) -> bool:
    """Whether something that one iteration gives is an argument in the next."""
    set_at: dict[str, int] = {}
    for part in nodes_in(loop, ast.Assign):
        for name in (name for target in part.targets for name in nodes_in(target, ast.Name)):
            set_at[name.id] = min(part.lineno, set_at.get(name.id, part.lineno))
    given = [one for part in nodes_in(loop, ast.Call) for one in part.args]
    return any(one.lineno <= set_at.get(one.id, 0) for one in of_kind(given, ast.Name))


def _collects(loop: ast.For, name: str) -> bool:
    """Whether the loss is kept, with its graph, where it may be used as well: in a sum, a list, another function."""
    for part in ast.walk(loop):
        if isinstance(part, ast.AugAssign | ast.Assign) and not isinstance(part.value, ast.Call):
            if name in names_in(part.value):
                if ".item" not in ast.unparse(part.value) and ".detach" not in ast.unparse(part.value):
                    return True
        if isinstance(part, ast.Call) and any(is_name(one, name) for one in part.args):
            if ast.unparse(part.func) not in ("print", "float"):
                return True
    return False


def _moved(analysis: Analysis, backward: Event, loop: ast.For) -> Iterator[Candidate]:
    """The lines from the backward() to the step, at the end of the loop's body."""
    path = backward.site.span.path
    source, statement = analysis.source_of(path), statement_of(analysis, backward.site)
    around = analysis.trail(path, statement) if statement is not None else []
    block: list[ast.stmt] = getattr(around[-2], "body", []) if len(around) > 1 else []
    here = {
        id(one)
        for event in analysis.trace.events
        if event.kind in _TRAINING
        if (one := statement_of(analysis, event.site))
    }
    if statement not in block:
        return
    first = last = block.index(statement)
    while id(block[first - 1]) in here and first > 0 and block[first - 1] is not loop:
        first -= 1
    while last + 1 < len(block) and id(block[last + 1]) in here:
        last += 1
    changes = edits.relocate(source, block[first : last + 1], loop.body[-1])
    if changes:
        title = message("fix.move_into", text=f"{_receiver(backward)}.backward()", line=loop.lineno)
        yield Candidate(title, changes, safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
