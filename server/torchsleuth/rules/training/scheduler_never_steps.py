"""scheduler-never-steps: a schedule of the learning rate is made, and nothing ever steps it.

What it finds
    A scheduler of PyTorch's of an optimizer that trains in a loop, which has no step() and is given to nothing that could.
Why it hurts
    The learning rate stays what it is at the beginning, for a warm-up a small part of what was meant. Nothing is raised.
Example
    scheduler = StepLR(optimizer, step_size=10)
    for epoch in range(30):
        train(model, loader, optimizer)
Use instead
    for epoch in range(30):
        train(model, loader, optimizer)
        scheduler.step()
Fix safety
    Unsafe: it is stepped at the end of the outermost loop that trains; some schedules count batches.
References
    torch.optim.lr_scheduler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event, LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import loop_statement, unseen
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import first_of
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject, is_unknown

CODE = "TS558"
_PACKAGE = "torch.optim.lr_scheduler."
_COUNT_BATCHES = frozenset({"OneCycleLR", "CyclicLR"})


def find(analysis: Analysis) -> Iterator[Finding]:
    made = [call for path, calls in analysis.calls.items() if path.startswith(_PACKAGE) for call in calls]
    if not made or unseen(analysis, "step"):
        return
    stepped = [event.subject for event in analysis.events("scheduler_step")]
    if any(map(is_unknown, stepped)) or any(is_unknown(event.subject) for event in analysis.events("step")):
        return  # The step of something that is not known may be the schedule's.
    parts = {id(value) for call in made for given in (*call.args, *call.kwargs.values()) for value in _held(given)}
    for call in {call.site.span: call for call in made}.values():
        schedule = call.result
        if not isinstance(schedule, LibraryObject) or id(schedule) in parts or not call.certain:
            continue
        if schedule.identity in analysis.trace.escaped or any(one is schedule for one in stepped):
            continue
        steps = [one for one in analysis.events("step") if one.subject is schedule.given(0, "optimizer") and one.loops]
        if steps:
            yield _finding(analysis, call, schedule, steps[0])


def _held(given: object) -> list[object]:
    """A value, and those in a list of them."""
    items = getattr(given, "items", None)
    return [given, *items] if isinstance(items, list | tuple) else [given]


def _finding(analysis: Analysis, call: LibraryCall, schedule: LibraryObject, step: Event) -> Finding:
    place = step.site.span.related(message("scheduler.never.trains"))
    text = message("scheduler.never", schedule=schedule.type_name)
    return Finding(call.site.span, text, (place,), tuple(_stepped(analysis, call, schedule, step)))


def _stepped(analysis: Analysis, call: LibraryCall, schedule: LibraryObject, step: Event) -> Iterator[Candidate]:
    """``scheduler.step()`` at the end of the loop over the epochs, where it has a name there."""
    source, path = call.site.source, call.site.span.path
    trail = analysis.index(path).trail(analysis.index(path).same(call.site.node) or call.site.node)
    statement = first_of(reversed(trail), ast.Assign)
    point = step.loops[-1 if schedule.type_name in _COUNT_BATCHES else 0]
    loop = loop_statement(analysis, point) if point.span.path == path else None
    if statement is not None and isinstance(loop, ast.For | ast.While) and isinstance(statement.targets[0], ast.Name):
        line = f"{source.segment(statement.targets[0])}.step()"
        edit = edits.insert_line_after(source, loop.body[-1], line)
        yield Candidate(message("fix.insert", text=line), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
