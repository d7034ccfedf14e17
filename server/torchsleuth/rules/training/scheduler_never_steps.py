"""scheduler-never-steps: a schedule of the learning rate is made, and nothing ever steps it.

What it finds
    A scheduler of PyTorch's of an optimizer that trains in a loop, which has no step() and is given to nothing that could. A schedule of
    timm's that counts epochs, and gets nothing but `step_update()`, or one that counts updates, and gets nothing but `step()`.
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
    torch.optim.lr_scheduler, timm.scheduler.CosineLRScheduler (t_in_epochs)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.timm import SCHEDULES
from torchsleuth.interp.trace import Event, LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import loop_statement, unseen
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject, is_unknown

CODE = "TS558"
_PACKAGE = "torch.optim.lr_scheduler."
_PLACED = 6
"""Arguments by place that cannot be `t_in_epochs`."""
_COUNT_BATCHES = frozenset({"OneCycleLR", "CyclicLR"})


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_timm(analysis)
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


_CALLS = {"step": ("updates", "epochs"), "step_update": ("epochs", "updates")}
"""The methods of timm's schedules, each with what a schedule counts for which it does nothing, and for which it works."""


def _of_timm(analysis: Analysis) -> Iterator[Finding]:
    """A schedule that is only ever told what it does not count."""
    made = {
        id(schedule): (call, schedule)
        for path, calls in analysis.calls.items()
        if path.startswith(SCHEDULES)
        for call in calls
        if (schedule := as_kind(call.result, LibraryObject)) is not None and schedule.path == path
    }
    for call, schedule in made.values():
        steps = [one for one in analysis.trace.calls if one.receiver is schedule and one.name in _CALLS]
        names = {one.name for one in steps}
        in_epochs = call.kwargs.get("t_in_epochs", True)
        if len(names) != 1 or not isinstance(in_epochs, bool) or len(call.args) > _PLACED or not call.certain:
            continue
        name = names.pop()
        unit, other = _CALLS[name]
        if (unit == "epochs") is in_epochs and schedule.identity not in analysis.trace.escaped:
            words = {"schedule": schedule.type_name, "unit": unit, "other": other, "option": not in_epochs}
            place = call.site.span.related(message("scheduler.counts.made"))
            node, source = call.site.call, call.site.source
            change = edits.set_keyword(source, node, "t_in_epochs", str(not in_epochs)) if node is not None else None
            title = message("fix.add_argument", argument=f"t_in_epochs={not in_epochs}")
            fix = (Candidate(title, (change,), safe=False),) if change is not None else ()
            yield Finding(steps[0].site.span, message("scheduler.counts", method=name, **words), (place,), fix)


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
