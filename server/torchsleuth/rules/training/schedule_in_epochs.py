"""schedule-in-epochs: a schedule that counts epochs, and is stepped after every batch, or the other way round.

What it finds
    CosineAnnealingLR whose T_max is the number of epochs, stepped in the loop over batches; PolynomialLR that is made for
    the number of epochs, and LinearLR that falls to zero in that time; StepLR and ExponentialLR that have multiplied the
    learning rate away when the loops end, and would not have with one step an epoch; schedules of transformers that end with the epochs; MultiStepLR whose milestones are epochs;
    and all of these where the number is not known, but written as the one of the loop over epochs. OneCycleLR and CosineAnnealingLR that
    are made for all batches of all epochs, and stepped once an epoch: by Lightning, too, which steps once an epoch unless
    `"interval": "step"` says otherwise. Schedules that are made for the updates of accumulated gradients, and stepped for each
    batch, and schedules for all batches that are stepped with the updates alone, as Accelerate does under `accumulate()`.
Why it hurts
    The schedule is over after a few batches. From then on the learning rate is zero, or so small that nothing is learned;
    with CosineAnnealingLR it goes up and down all the time. A schedule in batches that steps once an epoch never gets past
    its beginning. Nothing is raised.
Example
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            ...
            scheduler.step()
Use instead
    for epoch in range(epochs):
        for x, y in loader:
            ...
        scheduler.step()
Fix safety
    Safe: a schedule in epochs steps once an epoch.
References
    torch.optim.lr_scheduler, "How to adjust learning rate"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.accelerate import ACCELERATOR, STEPS
from torchsleuth.interp.library.optim import WITH_WARMUP
from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.accelerators import conditions_in_region
from torchsleuth.rules.evidence.graphs import last_assignment
from torchsleuth.rules.evidence.loops import is_alone, is_simple, statement_of
from torchsleuth.rules.evidence.numbers_written import number_of
from torchsleuth.rules.evidence.schedules import (
    counts_batches,
    every_kth,
    is_counted,
    is_one_of_several,
    is_set_back,
    is_unconditional,
    iterations,
    loops_since,
    once_an_epoch,
    product,
    with_batches,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    contains,
    is_attribute,
    is_binary,
    is_binding,
    is_function_call,
    is_method_call,
    is_name,
    is_reference,
    last_word,
    literal,
    nodes_in,
)
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryObject, Site, is_int, items_of

CODE = "TS536"
NOTHING = 1e-8
"""A part of the learning rate that changes no weight."""
_MANY_EPOCHS = 10
_LENGTHS = {
    "CosineAnnealingLR": (1, "T_max"),
    "PolynomialLR": (1, "total_iters"),
    "MultiStepLR": (1, "milestones"),
    "StepLR": (1, "step_size"),
}
"""Where schedules take how long they last."""
_IN_STEPS = {"OneCycleLR": "total_steps", "CosineAnnealingLR": "T_max"}
"""The options by which schedules take the number of their steps."""
_IN_CALLS = ("T_max", "total_iters", "step_size", "num_training_steps")
_COUNTED = ("range", "zip", "islice", "product")


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_lightning(analysis)
    seen: set[object] = set()
    yield from _in_each_batch(analysis, seen)
    yield from _in_each_update(analysis, seen)
    for event in analysis.events("scheduler_step"):
        scheduler = as_kind(event.subject, LibraryObject)
        if event.site.span in seen or not event.certain or scheduler is None:
            continue
        call = scheduler.site.call if scheduler.site is not None else None
        points = loops_since(event, scheduler) if scheduler.site is not None else []
        if scheduler.site is None or call is None or not points:
            continue
        if len(points) == 1:
            finding = _in_batches(analysis, event, scheduler, points[0])
            finding = finding or _in_batches_written(analysis, event, scheduler, points[0])
            if finding is not None:
                seen.add(event.site.span)
                yield finding
            continue
        sequence = _in_sequence(event, scheduler, points)
        text = _fault(scheduler, points) or _written(analysis, event, scheduler, points)
        if (text is None and sequence is None) or not is_unconditional(analysis, event.site, points):
            continue
        if is_set_back(analysis, scheduler, points) or is_one_of_several(analysis, event, points):
            continue
        seen.add(event.site.span)
        if sequence is not None or text is None:
            yield from filter(None, [sequence])
            continue
        source = scheduler.site.source
        length = next((word.value for word in call.keywords if word.arg in _IN_CALLS), None)
        fixes = list(once_an_epoch(analysis, event, points, safe=True))
        if length is not None:
            fixes += with_batches(event, points, scheduler, length)
        yield Finding(event.site.span, text, (source.span(call).related(message("scheduler.made")),), tuple(fixes))


def _in_each_batch(analysis: Analysis, seen: set[object]) -> Iterator[Finding]:
    """A schedule for as many steps as the optimizer makes, once for several batches, that is stepped for each of them."""
    for event in analysis.events("scheduler_step"):
        scheduler = as_kind(event.subject, LibraryObject)
        made = scheduler.site if scheduler is not None else None
        if scheduler is None or made is None or made.call is None or event.site.span in seen or not event.certain:
            continue
        optimizer = scheduler.args[0] if scheduler.args else None
        steps = [one for one in analysis.events_of(optimizer, "step") if _same_loops(one, event)] if optimizer else []
        rarely = next((kth for one in steps if (kth := every_kth(analysis, one)) is not None), None)
        if rarely is None or every_kth(analysis, event) is not None or not _counts_updates(analysis, made, rarely[0]):
            continue
        seen.add(event.site.span)
        text = message("scheduler.updates", count=ast.unparse(rarely[0]))
        places = (made.source.span(made.call).related(message("scheduler.made")),)
        yield Finding(event.site.span, text, places, tuple(_beside_step(analysis, event, rarely[1])))


def _in_each_update(analysis: Analysis, seen: set[object]) -> Iterator[Finding]:
    """A schedule for a step in each batch, that is stepped for each of the optimizer's steps alone, once for several batches."""
    for event in analysis.events("scheduler_step"):
        scheduler = as_kind(event.subject, LibraryObject)
        made = scheduler.site if scheduler is not None else None
        if scheduler is None or made is None or event.site.span in seen:
            continue
        points, rarely = (
            loops_since(event, scheduler),
            every_kth(analysis, event) or _every_accumulated(analysis, event),
        )
        length = counts_batches(analysis, made, points[-1]) if rarely is not None and len(points) == 2 else None
        every = number_of(rarely[0], rarely[1].scene) if rarely is not None and length is not None else None
        if rarely is None or length is None or every is None or every <= 1:
            continue
        seen.add(event.site.span)
        count = ast.unparse(rarely[0])
        text = message("scheduler.rarely", schedule=scheduler.type_name, count=count)
        places = (made.source.span(length).related(message("scheduler.rarely.made")),)
        yield Finding(event.site.span, text, places, tuple(_divided(made, length, rarely)))


def _every_accumulated(analysis: Analysis, event: Event) -> tuple[ast.expr, Site] | None:
    """The same of a schedule that was prepared, inside of ``accelerator.accumulate()``: the accelerator steps it with the optimizer.
    The number, as it is written for the accelerator."""
    given = [value for call in analysis.calls.get(f"{ACCELERATOR}.prepare", ()) for value in call.args]
    if not any(value is event.subject for value in given) or conditions_in_region(analysis, event.site) is None:
        return None
    made = analysis.calls_at_places(ACCELERATOR)
    if len(made) != 1 or "step_scheduler_with_optimizer" in made[0].kwargs or made[0].site.call is None:
        return None
    steps = argument_of(made[0].site.call, None, STEPS)
    return None if steps is None else (steps, made[0].site)


def _divided(made: Site, length: ast.expr, rarely: tuple[ast.expr, Site]) -> Iterator[Candidate]:
    """The length divided by the number of batches to an update, where this is known in the same function."""
    if rarely[1].scene.function is made.scene.function or isinstance(rarely[0], ast.Constant):
        text, count = made.source.segment(length), ast.unparse(rarely[0])
        whole = is_reference(length) or isinstance(length, ast.Call) or is_binary(length, ast.Mult)
        new = f"{text if whole else f'({text})'} // {count}"
        yield replacement(made.source, length, new)


def _same_loops(step: Event, event: Event) -> bool:
    return [point.span for point in step.loops] == [point.span for point in event.loops]


def _counts_updates(analysis: Analysis, made: Site, every: ast.expr) -> bool:
    """Whether how long a schedule lasts was divided by the number of batches to an update."""
    tree, word = analysis.tree(made.span.path), last_word(every)
    divided = [
        one
        for one in analysis.index(made.span.path).of_type(ast.BinOp)
        if isinstance(one.op, ast.FloorDiv | ast.Div)
        and word
        and last_word(one.right) == word
        and contains(one.left, ast.Call)
    ]
    bound = [one for one in nodes_in(tree, ast.Assign) if any(part in divided for part in ast.walk(one.value))]
    names = {last_word(target) for one in bound for target in one.targets} - {""}
    functions = {one.name: one for one in nodes_in(tree, ast.FunctionDef)}
    assert made.call is not None
    read: list[ast.AST] = [*made.call.args[1:], *(one.value for one in made.call.keywords)]
    read += [functions[last_word(one)] for one in read if isinstance(one, ast.expr) and last_word(one) in functions]
    parts = [part for one in read for part in ast.walk(one)]
    return any(
        part in divided or isinstance(part, ast.Name | ast.Attribute) and last_word(part) in names for part in parts
    )


def _beside_step(analysis: Analysis, event: Event, step: Site) -> Iterator[Candidate]:
    """The schedule stepped where the optimizer is."""
    path, statement, beside = step.span.path, statement_of(analysis, event.site), statement_of(analysis, step)
    trail = analysis.trail(path, beside) if beside is not None else []
    branch = first_of(reversed(trail), ast.If)
    if statement is None or branch is None or path != event.site.span.path or not is_alone(statement, analysis, path):
        return
    changes = edits.relocate(event.site.source, [statement], branch.body[-1])
    if changes:
        text = event.site.source.segment(statement)
        yield Candidate(message("fix.move_after", text=text, line=branch.body[-1].lineno), changes)


def _of_lightning(analysis: Analysis) -> Iterator[Finding]:
    """A schedule made for `trainer.estimated_stepping_batches`, which Lightning steps once an epoch unless it is told otherwise."""
    source = analysis.source
    for method in analysis.index(source.path).of_type(ast.FunctionDef):
        if method.name != "configure_optimizers" or any(literal(part) == "interval" for part in ast.walk(method)):
            continue
        for bound in nodes_in(method, ast.Assign):
            counted = any(is_attribute(part, "estimated_stepping_batches") for part in ast.walk(bound.value))
            if not is_binding(bound) or not counted or not called(bound.value).endswith("LR"):
                continue
            name = bound.targets[0].id
            listed = [
                part
                for returned in nodes_in(method, ast.Return)
                for listing in nodes_in(returned, ast.List)
                for part in listing.elts
                if is_name(part, name)
            ]
            fixes = [replacement(source, part, f'{{"scheduler": {name}, "interval": "step"}}') for part in listed[:1]]
            text = message("scheduler.lightning", scheduler=called(bound.value))
            yield Finding(source.span(bound.value), text, (), fixes)


def _in_batches(analysis: Analysis, event: Event, scheduler: LibraryObject, epochs: LoopPoint) -> Finding | None:
    """A schedule made for each batch of each epoch, and stepped once an epoch."""
    place = {"OneCycleLR": (2, "total_steps"), "CosineAnnealingLR": (1, "T_max")}.get(scheduler.type_name)
    optimizer, taken = scheduler.given(0, "optimizer"), as_kind(iterations(epochs), int)
    steps = [one for one in analysis.events("step") if one.subject is optimizer and one.certain]
    inner = {
        one.loops[1].span: one for one in steps if len(one.loops) == 2 and one.loops[0].execution == epochs.execution
    }
    if place is None or taken is None or taken < 2 or len(inner) != 1 or scheduler.site is None:
        return None
    step = next(iter(inner.values()))
    batches, made = as_kind(iterations(step.loops[1]), int), scheduler.given(*place)
    if made is None and scheduler.type_name == "OneCycleLR":
        made = product([scheduler.given(3, "epochs"), scheduler.given(4, "steps_per_epoch")])
    if batches is None or batches < 2 or made != taken * batches:
        return None
    if not _counts_batches(analysis, scheduler.site, place[1]):
        return None
    # A condition, or a loop that is left early, only makes the steps fewer.
    elsewhere = any(one.site.span != event.site.span for one in analysis.events_of(scheduler, "scheduler_step"))
    if elsewhere or is_set_back(analysis, scheduler, [epochs]) or is_one_of_several(analysis, event, [epochs]):
        return None
    source, call = scheduler.site.source, scheduler.site.node
    text = message("scheduler.batches", name=scheduler.type_name, made=made, taken=taken)
    places = (source.span(call).related(message("scheduler.made")),)
    return Finding(event.site.span, text, places, _each_batch(analysis, event, step, scheduler, place[1]))


def _in_batches_written(
    analysis: Analysis, event: Event, scheduler: LibraryObject, epochs: LoopPoint
) -> Finding | None:
    """The same where neither number is known: a length of ``epochs * len(loader)``, and a step behind the loop over the loader."""
    name, site, loop = _IN_STEPS.get(scheduler.type_name), scheduler.site, epochs.node
    call = site.call if site is not None else None
    if name is None or site is None or call is None or not isinstance(loop, ast.For) or iterations(epochs) == 1:
        return None
    whole = argument_of(call, None, "steps_per_epoch") or argument_of(call, None, name)
    if isinstance(whole, ast.Name):
        whole = last_assignment(analysis, whole, site)
    counted = {ast.unparse(part.args[0]) for part in _lengths(whole)}
    factors = is_binary(whole, ast.Mult) or argument_of(call, None, "steps_per_epoch") is not None
    inner = [part for part in loop.body if isinstance(part, ast.For) and _iterated(part) & counted and _steps_in(part)]
    behind = statement_of(analysis, event.site)
    if not factors or len(inner) != 1 or behind is None or event.site.span.path != site.span.path:
        return None
    if behind not in loop.body or is_set_back(analysis, scheduler, [epochs]):
        return None
    if any(one.site.span != event.site.span for one in analysis.events_of(scheduler, "scheduler_step")):
        return None
    step = next((one for one in analysis.events("step") if one.site.node in set(ast.walk(inner[0]))), None)
    source = site.source
    text = message("scheduler.batches.written", name=scheduler.type_name, made=source.segment(whole) if whole else "")
    places = (source.span(call).related(message("scheduler.made")),)
    fixes = _each_batch(analysis, event, step, scheduler, name) if step is not None else ()
    return Finding(event.site.span, text, places, fixes)


def _lengths(whole: ast.expr | None) -> list[ast.Call]:
    """The calls of ``len(loader)`` in a number."""
    calls = nodes_in(whole, ast.Call) if whole is not None else ()
    return [part for part in calls if is_function_call(part, "len") and len(part.args) == 1]


def _iterated(loop: ast.For) -> set[str]:
    """The iterable of a loop, as it is written, also inside of ``enumerate(…)`` and its like."""
    return {ast.unparse(part) for part in nodes_in(loop.iter, ast.expr) if is_reference(part)}


def _steps_in(loop: ast.For) -> bool:
    return any(is_method_call(part, "step") for part in nodes_in(loop, ast.Call))


def _counts_batches(analysis: Analysis, site: Site, name: str) -> bool:
    """Whether the number of steps is written as one of batches, and is not just as large: ``epochs * len(loader)``."""
    given = {word.arg: word.value for word in site.call.keywords} if site.call is not None else {}
    if "steps_per_epoch" in given:
        return True
    whole = given.get(name)
    if isinstance(whole, ast.Name):
        whole = last_assignment(analysis, whole, site)
    calls = [part.func for part in nodes_in(whole, ast.Call)] if whole is not None else []
    return any(is_name(called, "len") for called in calls)


def _each_batch(
    analysis: Analysis, event: Event, step: Event, scheduler: LibraryObject, name: str
) -> Iterator[Candidate]:
    """The step of the schedule behind that of the optimizer, in the loop over the batches; or a schedule in epochs."""
    early, behind = statement_of(analysis, event.site), statement_of(analysis, step.site)
    path = event.site.span.path
    if step.site.scene == event.site.scene and early is not None and is_alone(early, analysis, path):
        source = analysis.source_of(path)
        if behind is not None and is_simple(behind, analysis, path):
            title = message("fix.move_after", text=source.segment(early), line=behind.end_lineno)
            around = as_kind(analysis.index(path).parents.get(early), ast.If)
            guarded = around is not None and around.body == [early] and not around.orelse
            moved = around if guarded and around is not None else early
            yield Candidate(title, edits.relocate(source, [moved], behind))
    call = scheduler.site.call if scheduler.site is not None else None
    given = {word.arg: word.value for word in call.keywords} if call is not None else {}
    source = scheduler.site.source if scheduler.site is not None else analysis.source
    if "steps_per_epoch" in given:
        value = given["steps_per_epoch"]
        yield replacement(source, value, "1")
    whole = given.get(name)
    if is_binary(whole, ast.Mult):
        for one, other in ((whole.left, whole.right), (whole.right, whole.left)):
            if is_function_call(other, "len"):
                new = source.segment(one)
                yield replacement(source, whole, new)


def _fault(scheduler: LibraryObject, points: list[LoopPoint]) -> str | None:
    """The message about the learning rate, where it is known to be wrong."""
    epochs, batches = as_kind(product([iterations(point) for point in points[:-1]]), int), iterations(points[-1])
    if epochs is not None and _is_over_batches(points[-1]):
        marks = _milestones(scheduler, epochs, batches)
        if marks is not None:
            return marks
    if epochs is None or not is_number(batches) or batches < 2:
        return None
    name, taken = scheduler.type_name, epochs * batches
    if scheduler.path in WITH_WARMUP:
        length = scheduler.given(2, "num_training_steps")
        return message("scheduler.epochs.zero", made=length, taken=taken) if _is_of(length, epochs, batches) else None
    if name == "CosineAnnealingLR":
        length = scheduler.given(1, "T_max")
        all_epochs = epochs + _left_out(points[0])
        if length == all_epochs and not {epochs, all_epochs} & {1, batches}:
            return message("scheduler.epochs.cosine", epochs=length, taken=taken)
    if name in ("PolynomialLR", "LinearLR"):
        place, default = (1, 5) if name == "PolynomialLR" else (3, 5)
        length = scheduler.given(place, "total_iters", default)
        ends = name == "PolynomialLR" or scheduler.given(2, "end_factor", 1.0) == 0
        if ends and length == epochs and epochs not in (1, batches):
            return message("scheduler.epochs.zero", made=length, taken=taken)
    left = _left(scheduler, taken)
    if left is not None and left < NOTHING and (_left(scheduler, epochs) or 0) >= NOTHING:
        return message("scheduler.epochs.gone", factor=f"{left:.0e}", taken=taken)
    return None


def _is_of(length: object, epochs: int, batches: object) -> bool:
    """Whether a length is the number of epochs, and is not that by chance."""
    return length == epochs and epochs not in (1, batches)


def _in_sequence(event: Event, sequence: LibraryObject, points: list[LoopPoint]) -> Finding | None:
    """The last schedule of a SequentialLR, made for the epochs that are left, where the milestones count batches."""
    epochs, batches = iterations(points[0]), iterations(points[-1])
    members, marks = (items_of(sequence.given(place, name)) for place, name in ((1, "schedulers"), (2, "milestones")))
    last = as_kind(members[-1], LibraryObject) if sequence.type_name == "SequentialLR" and members else None
    begins = as_kind(marks[-1], int) if marks else None
    if last is None or begins is None or not isinstance(epochs, int) or not isinstance(batches, int):
        return None
    length, site, left = last.given(1, "T_max"), last.site, epochs * batches - begins
    if last.type_name != "CosineAnnealingLR" or site is None or site.call is None or not isinstance(length, int):
        return None
    if len(points) != 2 or begins < batches or not 1 < length <= epochs or left < 2 * length or length == batches:
        return None
    written = argument_of(site.call, 1, "T_max")
    text = message("scheduler.epochs.sequence", length=length, left=left, begins=begins)
    fixes = with_batches(event, points, last, written) if written is not None else ()
    return Finding(site.span, text, (event.site.span.related(message("scheduler.epochs.stepped")),), fixes)


def _milestones(scheduler: LibraryObject, epochs: int, batches: object) -> str | None:
    """The message about milestones that are numbers of epochs: the last one belongs into the second half of these."""
    if scheduler.type_name != "MultiStepLR" or epochs < _MANY_EPOCHS or (is_int(batches) and batches in (0, 1, 2, 3)):
        return None
    given = scheduler.given(1, "milestones")
    marks = items_of(given)
    if not marks or not all(type(mark) is int for mark in marks):
        return None
    last: int = marks[-1]
    return message("scheduler.epochs.marks", last=last, epochs=epochs) if epochs / 2 <= last <= epochs else None


def _written(analysis: Analysis, event: Event, scheduler: LibraryObject, points: list[LoopPoint]) -> str | None:
    """The message about a schedule whose length is written as the number of epochs, whatever that is."""
    site = scheduler.site
    place, name = _LENGTHS.get(scheduler.type_name, (0, ""))
    if site is None or not name or site.call is None or not _is_over_batches(points[-1]):
        return None
    length = argument_of(site.call, None, name)
    if length is None and len(site.call.args) > place:
        length = site.call.args[place]
    batches = iterations(points[-1])
    if length is None or batches == 1:
        return None
    if any(is_counted(analysis, length, site.scene, event, point) for point in points[:-1]):
        source = site.source
        return message("scheduler.epochs.written", name=name, length=source.segment(length))
    return None


def _is_over_batches(point: LoopPoint) -> bool:
    """Whether a loop goes over a loader, or something that may be one: no range, no list that is written there."""
    over = point.node.iter if isinstance(point.node, ast.For) else None
    while isinstance(over, ast.Call) and over.args and not ast.unparse(over.func).endswith(_COUNTED):
        over = over.args[0]
    return point.over_loader or is_reference(over)


def _left_out(epochs: LoopPoint) -> int:
    """How many epochs are not gone through: ``range(1, epochs)`` is one short."""
    over = as_kind(epochs.node.iter, ast.Call) if isinstance(epochs.node, ast.For) else None
    if over is not None and ast.unparse(over.func) == "range" and len(over.args) == 2:
        first = over.args[0]
        return int(literal(first) == 1)
    return 0


def _left(scheduler: LibraryObject, steps: int) -> float | None:
    """The factor that a multiplying schedule leaves of the learning rate after so many steps."""
    name = scheduler.type_name
    gamma = as_kind(scheduler.given(1 if name == "ExponentialLR" else 2, "gamma", 0.1), float)
    if gamma is None or not 0 < gamma < 1:
        return None
    if name == "ExponentialLR":
        return float(gamma**steps)
    if name == "StepLR":
        size = as_kind(scheduler.given(1, "step_size"), int)
        return float(gamma ** (steps // size)) if size is not None and size > 0 else None
    return None


RULE = Rule(FAULTS[CODE], find, of_absence=True)
