"""scheduler-before-optimizer: a learning rate schedule that is a step ahead.

What it finds
    scheduler.step() before the first optimizer.step(), in every iteration of a loop.
Why it hurts
    The first value of the schedule is skipped: training starts with the second learning rate. PyTorch warns of it once.
Example
    for epoch in range(epochs):
        scheduler.step()
        train(model, optimizer)
Use instead
    for epoch in range(epochs):
        train(model, optimizer)
        scheduler.step()
Fix safety
    Safe: this is the order that the schedules are defined for since PyTorch 1.1.
References
    torch.optim.lr_scheduler, "How to adjust learning rate"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import (
    blocks_of,
    is_alone,
    is_simple,
    name_in,
    place_in,
    receiver_text,
    same_block,
    same_iteration,
    statement_of,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject

CODE = "TS508"
_COUNTING = "torch.optim.lr_scheduler."
"""The package whose schedules go on by one with each step. Those of timm are set to the epoch that they are told."""


def find(analysis: Analysis) -> Iterator[Finding]:
    events = analysis.trace.events
    for first in _first_of_each(events):
        optimizer = first.subject.given(0, "optimizer") if isinstance(first.subject, LibraryObject) else None
        steps = [event for event in events if event.kind == "step" and event.subject is optimizer]
        if steps and first.loops and first.index < steps[0].index and _together(analysis, first, steps[0]):
            later = [step for step in steps if same_iteration(first, step)]
            if later:
                yield _finding(analysis, first, later[-1])


def _together(analysis: Analysis, first: Event, step: Event) -> bool:
    """Whether both happen, or both under the same condition: every so many batches."""
    return (first.certain and step.certain) or (same_iteration(first, step) and same_block(analysis, first, step))


def _first_of_each(events: list[Event]) -> list[Event]:
    """The first step of every scheduler that counts its steps. One that is told the epoch skips none."""
    found: dict[int | None, Event] = {}
    for event in events:
        if event.kind == "scheduler_step" and getattr(event.subject, "path", "").startswith(_COUNTING):
            call = as_kind(event.site.node, ast.Call)
            if call is None or not (call.args or call.keywords):
                found.setdefault(event.identity, event)
    return list(found.values())


def _finding(analysis: Analysis, early: Event, step: Event) -> Finding:
    name = receiver_text(early.site) or "the scheduler"
    places = (step.site.span.related(message("scheduler.early.step")),)
    optimizer = receiver_text(step.site) or "the optimizer"
    text = message(
        "scheduler.early",
        scheduler=f"`{name}.step()`",
        optimizer=f"`{optimizer}.step()`",
        line=step.site.span.start.line,
    )
    return Finding(early.site.span, text, places, _moved(analysis, early, step))


def _moved(analysis: Analysis, early: Event, step: Event) -> Iterator[Candidate]:
    """The statement moved behind the one of the same block in which the optimizer steps; or behind the step itself, in
    another function that has the scheduler under the same name."""
    path = early.site.span.path
    statement = as_kind(statement_of(analysis, early.site), ast.Expr)
    if step.site.span.path != path or statement is None or not is_alone(statement, analysis, path):
        return
    source = analysis.source_of(path)
    text = source.segment(statement)
    behind = _behind(analysis, statement, early, step)
    if behind is None:
        behind = statement_of(analysis, step.site)
        only = any(block == [statement] for block in blocks_of(analysis.tree(path)))
        simple = isinstance(behind, ast.Expr) and is_simple(behind, analysis, path)
        if only or not simple or receiver_text(early.site) != name_in(step.site.scene, early.subject):
            return
    if behind is not None and behind is not statement:
        changes = (edits.remove_line(source, statement.lineno), edits.insert_line_after(source, behind, text))
        yield Candidate(message("fix.move_after", text=text, line=behind.end_lineno), changes)


def _behind(analysis: Analysis, statement: ast.stmt, early: Event, step: Event) -> ast.stmt | None:
    """The statement of the same block in which the optimizer steps."""
    there = place_in(step.site, early.site.scene.function)
    target = statement_of(analysis, there) if there is not None else None
    if target is None:
        return None
    tree = analysis.tree(early.site.span.path)
    around = edits.path_to(tree, target)
    siblings = next((block for block in blocks_of(tree) if statement in block), [])
    return next((part for part in siblings if part in around), None)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
