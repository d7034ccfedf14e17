"""grad-scaler-order: a GradScaler of which one part is missing, or in the wrong place.

What it finds
    backward() of a scaled loss followed by optimizer.step() instead of scaler.step(optimizer), or beside it;
    scaler.step() although the loss was not scaled; scaler.step() without scaler.update(), or behind it; a `continue` or
    `return` between scaler.unscale_() and scaler.update(), after which the next unscale_() is the second.
Why it hurts
    The optimizer steps with gradients 65536 times too large, or twice. In the other cases PyTorch raises an error, but
    only where the scaler is enabled: on a machine with a GPU.
Example
    scaler.scale(loss).backward()
    optimizer.step()
Use instead
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
Fix safety
    Safe: the three calls belong together.
References
    torch.amp.GradScaler
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import is_off
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import feeds
from torchsleuth.rules.evidence.iterations import next_iteration
from torchsleuth.rules.evidence.loops import (
    blocks_of,
    caller_of,
    common_loop,
    is_alone,
    is_simple,
    optimizer_text,
    receiver_text,
    recurs,
    same_iteration,
    statement_of,
    uncalled,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, moved_after, replacement
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_method_call, nodes_in
from torchsleuth.values import LibraryObject, Site

CODE = "TS515"


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    if not any(event.kind == "scaler_step" or event.kind == "scale" for event in events):
        return
    reported: set[object] = set()
    for finding in (
        *_steps_beside(analysis, events),
        *_unscaled_losses(analysis, events),
        *_no_update(analysis, events),
        *_no_step(analysis, events),
        *_early_updates(analysis, events),
        *_skipped_updates(analysis, events),
        *_unscaled_again(analysis, events),
    ):
        if finding.at not in reported:
            reported.add(finding.at)
            yield finding


def _scaling(events: list[Event], backward: Event) -> Event | None:
    """Where the loss of a backward() was scaled."""
    scales = {id(event.tensor): event for event in events if event.kind == "scale" and not is_off(event.subject)}
    pending = [backward.tensor]
    for _ in range(16):
        found = next((scales[id(tensor)] for tensor in pending if tensor is not None and id(tensor) in scales), None)
        if found is not None:
            return found
        origins = [tensor.origin for tensor in pending if tensor is not None]
        pending = [source for origin in origins if origin is not None for source in origin.sources]
    return None


def _steps_beside(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """optimizer.step() after the backward() of a scaled loss, instead of a step of the scaler or after it."""
    by_scaler = {(event.index + 1) for event in events if event.kind == "scaler_step"}
    for step in events:
        if step.kind != "step" or not step.certain or step.index in by_scaler:
            continue
        earlier = [event for event in events[: step.index] if same_iteration(step, event)]
        last = next((e for e in reversed(earlier) if e.kind in ("backward", "unscale") or _steps(e, step)), None)
        if last is None or not last.certain:
            continue
        if last.kind == "backward" and feeds(last, step.subject) is not False:
            scale = _scaling(events, last)
            if scale is not None:
                yield _instead(analysis, step, scale, "scaler.step")
        elif last.kind == "step" and last.index in by_scaler:
            yield _twice(analysis, step, last)


def _steps(event: Event, step: Event) -> bool:
    return event.kind == "step" and event.subject is step.subject


def _instead(analysis: Analysis, step: Event, scale: Event, key: str) -> Finding:
    scaler = receiver_text(scale.site)
    optimizer = receiver_text(step.site)
    places = (scale.site.span.related(message("scaler.scaled")),)
    candidates: list[Candidate] = []
    statement = statement_of(analysis, step.site)
    alone = isinstance(statement, ast.Expr) and is_simple(statement, analysis, step.site.span.path)
    if scaler and optimizer and alone and statement is not None:
        here = step.site.source
        text = f"{scaler}.step({optimizer})"
        changes = [edits.replace(here, statement, text)]
        if not bool(analysis.events("scaler_update")):
            changes.append(edits.insert_line_after(here, statement, f"{scaler}.update()"))
        title = message("fix.replace", old=here.segment(statement), new=text)
        candidates = [Candidate(title, tuple(changes))]
    text = message(key, optimizer=f"`{optimizer}`", scaler=f"`{scaler}`")
    return Finding(step.site.span, text, places, tuple(candidates))


def _twice(analysis: Analysis, step: Event, first: Event) -> Finding:
    path = step.site.span.path
    source = analysis.source_of(path)
    places = (first.site.span.related(message("scaler.twice.first")),)
    statement = as_kind(statement_of(analysis, step.site), ast.Expr)
    candidates: tuple[Candidate, ...] = ()
    if statement is not None and is_alone(statement, analysis, path):
        title = message("fix.remove", text=source.segment(statement))
        candidates = (Candidate(title, (edits.remove_line(source, statement.lineno),)),)
    text = message("scaler.twice", optimizer=f"`{receiver_text(step.site)}`", line=first.site.span.start.line)
    return Finding(step.site.span, text, places, candidates)


def _unscaled_losses(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """scaler.step() after the backward() of a loss that was not scaled."""
    for step in events:
        if step.kind != "scaler_step" or not step.certain or step.identity in analysis.trace.escaped:
            continue
        if is_off(step.subject) or any(event.kind == "scale" and event.tensor is None for event in events):
            continue
        optimizer = as_kind(events[step.index + 1].subject, LibraryObject)
        if optimizer is None:
            continue
        passes = [event for event in events[: step.index] if event.kind == "backward" and same_iteration(step, event)]
        backward = next((event for event in reversed(passes) if feeds(event, optimizer) is True), None)
        scaler = receiver_text(step.site)
        if backward is None or not backward.certain or scaler is None or _scaling(events, backward) is not None:
            continue
        candidates: list[Candidate] = []
        node = backward.site.node
        if is_method_call(node):
            source = backward.site.source
            text = f"{scaler}.scale({source.segment(node.func.value)})"
            candidates = [replacement(source, node.func.value, text)]
        yield Finding(backward.site.span, message("scaler.unscaled", scaler=f"`{scaler}`"), (), tuple(candidates))


def _no_update(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """scaler.step() in a loop, and no update() of that scaler anywhere."""
    for step in events:
        if step.kind != "scaler_step" or not step.loops or step.identity in analysis.trace.escaped:
            continue
        if is_off(step.subject):
            continue
        if any(event.kind == "scaler_update" and event.subject is step.subject for event in events):
            continue
        scaler = receiver_text(step.site)
        yield Finding(
            step.site.span, message("scaler.update", scaler=f"`{scaler}`"), (), _updated(analysis, step, scaler)
        )


def _no_step(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """scaler.update() in a loop that scales a loss, and no step() by anyone."""
    for update in events:
        if update.kind != "scaler_update" or not update.certain or update.identity in analysis.trace.escaped:
            continue
        same = [event for event in events if same_iteration(update, event)]
        optimizer = next((name for name in (_cleared(analysis, event) for event in same) if name), None)
        scaled = any(event.kind == "scale" and event.certain for event in same)
        if not update.loops or not scaled or any(event.kind in ("scaler_step", "step") for event in events):
            continue
        scaler, path = receiver_text(update.site), update.site.span.path
        statement = statement_of(analysis, update.site)
        line = f"{scaler}.step({optimizer})"
        fixes: tuple[Candidate, ...] = ()
        if scaler and optimizer and statement is not None and is_simple(statement, analysis, path):
            edit = edits.insert_line_before(analysis.source_of(path), statement, line)
            fixes = (Candidate(message("fix.insert", text=line), (edit,)),)
        text = message("scaler.no_step", scaler=f"`{scaler}`", step=f"`{scaler}.step({optimizer or 'optimizer'})`")
        yield Finding(update.site.span, text, (), fixes)


def _cleared(analysis: Analysis, event: Event) -> str | None:
    """The optimizer that an event clears or unscales the gradients of, as it is written."""
    if event.kind == "zero_grad":
        return receiver_text(event.site)
    call = event.site.call
    return ast.unparse(call.args[0]) if event.kind == "unscale" and call is not None and call.args else None


def _updated(analysis: Analysis, step: Event, scaler: str | None) -> Iterator[Candidate]:
    statement = statement_of(analysis, step.site)
    path = step.site.span.path
    source = analysis.source_of(path)
    forgotten = uncalled(analysis, path, scaler, "update") if scaler else None
    if forgotten is not None:
        edit = edits.insert_after_node(source, forgotten, "()")
        yield Candidate(message("fix.parentheses", text=f"{scaler}.update"), (edit,))
    elif scaler and statement is not None and is_simple(statement, analysis, path):
        edit = edits.insert_line_after(source, statement, f"{scaler}.update()")
        yield Candidate(message("fix.insert", text=f"{scaler}.update()"), (edit,))


def _early_updates(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """scaler.update() between the backward() of a scaled loss and the first scaler.step() of the iteration."""
    for update in events:
        if update.kind != "scaler_update" or not update.certain or is_off(update.subject):
            continue
        same = [event for event in events if same_iteration(update, event) and event.certain]
        steps = [event for event in same if event.kind == "scaler_step" and event.subject is update.subject]
        before = [event for event in same if event.index < update.index]
        scaled = any(event.kind == "backward" and _scaling(events, event) for event in before)
        if not steps or steps[0].index < update.index or not scaled:
            continue
        last = steps[-1]
        path = update.site.span.path
        source = analysis.source_of(path)
        moved, beside = as_kind(statement_of(analysis, update.site), ast.Expr), statement_of(analysis, last.site)
        candidates: tuple[Candidate, ...] = ()
        if moved is not None and beside is not None and last.site.span.path == path:
            if is_alone(moved, analysis, path) and is_simple(beside, analysis, path):
                candidates = (moved_after(source, moved, beside),)
        text = message(
            "scaler.early",
            scaler=f"`{receiver_text(update.site)}`",
            optimizer=f"`{optimizer_text(analysis, last)}`",
            line=last.site.span.start.line,
        )
        places = (last.site.span.related(message("clip.place.scaler_step")),)
        yield Finding(update.site.span, text, places, candidates)


def _unscaled_again(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """unscale_() in each iteration, of which only every so many end with a step() and an update() of the scaler."""
    unscales = [event for event in events if event.kind == "unscale" and event.certain and event.loops]
    updates = [event for event in events if event.kind == "scaler_update"]
    for first, second in itertools.pairwise(unscales):
        same = first.subject is second.subject and first.site.span == second.site.span
        point = common_loop(first, second) if same else None
        if point is None or next_iteration(first.loops, second.loops) is None:
            continue
        between = [event for event in updates if first.index < event.index < second.index]
        late = [event for event in updates if event.index > first.index]
        if any(event.certain or not recurs(analysis, event) for event in between) or not late:
            continue
        if any(is_off(event.subject) for event in updates):
            continue
        line = late[0].site.span.start.line
        places = (late[0].site.span.related(message("scaler.unscaled_again.update")),)
        fixes = tuple(_with_the_step(analysis, first, late[0]))
        yield Finding(first.site.span, message("scaler.unscaled_again", line=line), places, fixes)


def _with_the_step(analysis: Analysis, unscale: Event, update: Event) -> Iterator[Candidate]:
    """The statement that unscales, put into the condition under which the scaler steps, where that stands behind it."""
    for site, statement in _led_by(analysis, unscale):
        tree, source = analysis.tree(site.span.path), site.source
        block = next((one for one in blocks_of(tree) if statement in one), [])
        for _, other in _led_by(analysis, update):
            for condition in of_kind(analysis.trail(site.span.path, other), ast.If):
                if condition in block and statement.lineno < condition.lineno and other in condition.body:
                    moved = source.segment(statement)
                    if statement.lineno == statement.end_lineno and is_alone(statement, analysis, site.span.path):
                        added = edits.insert_line_before(source, condition.body[0], moved)
                        title = message("fix.move_under", text=moved, line=condition.lineno)
                        yield Candidate(title, (edits.remove_line(source, statement.lineno), added))
                        return


def _led_by(analysis: Analysis, event: Event) -> Iterator[tuple[Site, ast.stmt]]:
    """The statement in which something happens, and those that call the functions around it."""
    site: Site | None = event.site
    while site is not None:
        statement = statement_of(analysis, site)
        if statement is not None:
            yield site, statement
        site = caller_of(site)


def _skipped_updates(analysis: Analysis, events: list[Event]) -> Iterator[Finding]:
    """A way back to the next unscale_() that goes past the update() of the scaler."""
    updated = {receiver_text(event.site) for event in events if event.kind == "scaler_update"}
    updated -= {receiver_text(event.site) for event in events if is_off(event.subject)}
    for event in events:
        scaler = receiver_text(event.site) if event.kind == "unscale" and event.loops else None
        statement = statement_of(analysis, event.site)
        path = event.site.span.path
        if scaler is None or scaler not in updated or statement is None:
            continue
        block = next((one for one in blocks_of(analysis.tree(path)) if statement in one), [])
        after = block[block.index(statement) + 1 :] if block else []
        update = next((at for at, one in enumerate(after) if _updates(one, scaler)), 0)
        source = analysis.source_of(path)
        for jump in (jump for one in after[:update] for jump in _jumps(one)):
            jumps = "continue" if isinstance(jump, ast.Continue) else "return"
            text = message("scaler.skipped", update=f"`{scaler}.update()`", jump=jumps)
            places = (event.site.span.related(message("scaler.skipped.unscale")),)
            fixed = edits.insert_line_before(source, jump, f"{scaler}.update()")
            candidates = (Candidate(message("fix.insert", text=f"{scaler}.update()"), (fixed,)),)
            yield Finding(source.span(jump), text, places, candidates)


def _updates(statement: ast.stmt, scaler: str) -> bool:
    calls = (node.func for node in nodes_in(statement, ast.Call))
    return any(is_attribute(func, "update") and ast.unparse(func.value) == scaler for func in calls)


def _jumps(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The ways out of the iteration or the function under the conditions of a statement."""
    if isinstance(statement, ast.If):
        for one in (*statement.body, *statement.orelse):
            if isinstance(one, ast.Continue | ast.Return):
                yield one
            yield from _jumps(one)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
