"""schedule-too-short: a schedule that is stepped more often than it was made for.

What it finds
    OneCycleLR with a number of steps that the loops around its step() are known to exceed: mostly the number of epochs,
    while it steps after every batch.
Why it hurts
    ValueError "Tried to step 5 times. The specified number of total steps is 3", somewhere in the first epochs.
Example
    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            ...
            scheduler.step()
Use instead
    scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=epochs * len(loader))
Fix safety
    Safe: the schedule then lasts as long as the training.
References
    torch.optim.lr_scheduler.OneCycleLR
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.interp.values import LibraryObject, Site, is_int
from torchsleuth.messages import message
from torchsleuth.rules.loops import caller_of, is_alone, loop_statement, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule, related
from torchsleuth.syntax import edits
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size

CODE = "TS527"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[object] = set()
    for event in analysis.events("scheduler_step"):
        scheduler = event.subject
        if event.site.span in seen or not event.certain or not isinstance(scheduler, LibraryObject):
            continue
        if (
            scheduler.type_name != "OneCycleLR"
            or scheduler.site is None
            or not isinstance(scheduler.site.node, ast.Call)
        ):
            continue
        points = _loops_since(event, scheduler)
        made, taken = _length(scheduler), _product([_count(point) for point in points])
        if not _is_unconditional(analysis, event.site) or _is_set_back(analysis, scheduler, points):
            continue
        if _is_one_of_several(analysis, event, points):
            continue
        if made is None or taken is None or dims.positive(dims.subtract(taken, made)) != 1:
            continue
        seen.add(event.site.span)
        source = analysis.source_of(scheduler.site.span.path)
        places = (related(source, scheduler.site.node, message("scheduler.short.made", steps=dims.text(made))),)
        text = message("scheduler.short", taken=dims.text(taken), made=dims.text(made))
        yield Finding(event.site.span, text, places, tuple(_repairs(analysis, event, scheduler, points)))


def _is_unconditional(analysis: Analysis, place: Site) -> bool:
    """Whether nothing but loops decides how often something happens, and nothing leaves those early."""
    site: Site | None = place
    while site is not None:
        statement = statement_of(analysis, site)
        if statement is None:
            return False
        for part in reversed(edits.path_to(analysis.tree(site.span.path), statement)[:-1]):
            if isinstance(part, ast.If | ast.While | ast.Try | ast.Match):
                return False
            if isinstance(part, ast.For | ast.FunctionDef | ast.AsyncFunctionDef) and _leaves(part):
                return False
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                break
        site = caller_of(site)
    return True


def _is_one_of_several(analysis: Analysis, event: Event, points: list[LoopPoint]) -> bool:
    """Whether the loops step different schedules in the same place."""
    same = [other.subject for other in analysis.events("scheduler_step") if other.site.span == event.site.span]
    call = event.site.node
    held = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    names = {part.id for part in ast.walk(held) if isinstance(part, ast.Name)} if held is not None else set()
    set_anew = {
        part.id
        for point in points
        if point.span.path == event.site.span.path
        for part in ast.walk(point.node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return any(subject is not event.subject for subject in same) or bool(names & set_anew)


def _is_set_back(analysis: Analysis, scheduler: LibraryObject, points: list[LoopPoint]) -> bool:
    """Whether one of the loops loads the state of a schedule, which then counts from there."""
    loads = analysis.calls.get(f"{scheduler.path}.load_state_dict", ())
    loops = {point.execution for load in loads for point in load.loops}
    return any(point.execution in loops for point in points)


def _leaves(block: ast.For | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a loop, or a function before its end, may be left."""
    ways = [part for part in ast.walk(block) if isinstance(part, ast.Break | ast.Continue | ast.Return | ast.Raise)]
    if isinstance(block, ast.For):
        return bool(ways)
    return any(part is not block.body[-1] for part in ways if isinstance(part, ast.Return | ast.Raise))


def _loops_since(event: Event, scheduler: LibraryObject) -> list[LoopPoint]:
    """The loops around the step in which the scheduler is not made anew."""
    assert scheduler.site is not None
    line, path = scheduler.site.span.start.line, scheduler.site.span.path
    return [
        point
        for point in event.loops
        if not (point.span.path == path and point.span.start.line <= line <= point.span.end.line)
    ]


def _count(point: LoopPoint) -> Size | None:
    if point.count is not None:
        return point.count
    plan = point.loader.slots.get("plan") if point.loader is not None else None
    return getattr(plan, "count", None)


def _length(scheduler: LibraryObject) -> Size | None:
    """How many steps a OneCycleLR was made for."""
    total = scheduler.argument(2, "total_steps")
    if total is None:
        return _product([scheduler.argument(3, "epochs"), scheduler.argument(4, "steps_per_epoch")])
    return total if is_int(total) else None


def _product(sizes: list[Size | None]) -> Size | None:
    result: Size = 1
    for size in sizes:
        if not is_int(size) or size is None:
            return None
        result = dims.multiply(result, size)
    return result


def _repairs(
    analysis: Analysis, event: Event, scheduler: LibraryObject, points: list[LoopPoint]
) -> Iterator[Candidate]:
    """The number of steps times the number of batches, or the step once an epoch."""
    assert scheduler.site is not None
    source, call = analysis.source_of(scheduler.site.span.path), scheduler.site.node
    given = {keyword.arg: keyword.value for keyword in getattr(call, "keywords", ())}
    batches = _batches(analysis, event, points, scheduler)
    for name in ("total_steps", "steps_per_epoch"):
        value = given.get(name)
        if value is None or batches is None:
            continue
        old = source.segment(value)
        text = old if isinstance(value, ast.Name | ast.Constant | ast.Attribute | ast.Call) else f"({old})"
        new = batches if name == "steps_per_epoch" else f"{text} * {batches}"
        yield Candidate(message("fix.replace", old=old, new=new), (edits.replace(source, value, new),))
    path, statement = event.site.span.path, statement_of(analysis, event.site)
    loop = loop_statement(analysis, points[-1]) if points else None
    if (
        statement is not None
        and loop is not None
        and points[-1].span.path == path
        and is_alone(statement, analysis, path)
    ):
        here = analysis.source_of(path)
        text = here.segment(statement)
        changes = edits.relocate(here, [statement], loop)
        yield Candidate(message("fix.move_out", text=text, line=loop.lineno), changes, safe=False)


def _batches(analysis: Analysis, event: Event, points: list[LoopPoint], scheduler: LibraryObject) -> str | None:
    """``len(loader)``, where the loader of the innermost loop is known by a plain name, where the schedule is made, too."""
    assert scheduler.site is not None
    frame = scheduler.site.frame
    iterated = points[-1].node.iter if points and isinstance(points[-1].node, ast.For) else None
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.args:
        iterated = iterated.args[0]
    loader = points[-1].loader if points else None
    for names in (frame.names, *frame.closure, frame.globals):
        for name, value in names.items():
            if loader is not None and value is loader and isinstance(name, str):
                return f"len({name})"
    same = event.site.frame is frame or event.site.frame.function is frame.function
    return f"len({ast.unparse(iterated)})" if same and isinstance(iterated, ast.Name | ast.Attribute) else None


RULE = Rule(
    CODE,
    "schedule-too-short",
    "error",
    "training loop",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=EPOCHS)
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
#       ^^^^^^^^^^^^^^^^ TS527: steps 12 times, but it was made for 3 of them
""",
            fixed="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=EPOCHS * len(loader))
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
""",
            good="""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=EPOCHS, steps_per_epoch=len(loader))
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
""",
        ),
    ),
)
