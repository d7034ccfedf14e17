"""optimizer-made-anew: an optimizer that is made for a single step, again in each iteration, or behind the back of its schedule.

What it finds
    A loop in which every iteration makes an optimizer for the same parameters and steps it once, where the optimizer keeps
    something from step to step: Adam and its like, RMSprop, SGD with momentum. A schedule that goes on with an optimizer which never
    steps, while another one trains the same parameters, which was made after the schedule.
Why it hurts
    Averages of gradients and momentum start at zero in each step: Adam then only follows the signs of the gradients, and
    momentum has no effect. Schedules that are given such an optimizer lose theirs, too. A schedule of another optimizer changes a
    learning rate that nothing uses. Nothing is raised.
Example
    for x, y in loader:
        optimizer = torch.optim.Adam(model.parameters())
        ...
        optimizer.step()
Use instead
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        ...
        optimizer.step()
Fix safety
    Safe: the optimizer is then made once, before the loops.
References
    torch.optim.Optimizer, "Constructing it"
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import given_to, is_optimizer, trained_parts
from torchsleuth.interp.trace import Event, LibraryCall, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_alone, loop_statement, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_binding, names_in
from torchsleuth.values import UNKNOWN, LibraryObject, Site

CODE = "TS535"
_STATEFUL = frozenset(
    "Adam AdamW Adamax NAdam RAdam SparseAdam Adagrad Adadelta Adafactor RMSprop Rprop ASGD Muon".split()
)
_RESETS = frozenset("load_state_dict apply reset_parameters copy_".split())
"""Methods by which a loop starts over with its weights, or goes on with a state that it has kept."""


def find(analysis: Analysis) -> Iterator[Finding]:
    made: defaultdict[tuple[Span, int], list[LibraryCall]] = defaultdict(list)
    for call in analysis.trace.calls:
        if call.path.startswith("torch.optim.") and isinstance(call.result, LibraryObject) and call.loops:
            if is_optimizer(call.result) and call.certain and _is_stateful(call.result):
                made[call.site.span, call.loops[-1].execution].append(call)
    seen: set[Span] = set()
    for (span, _), calls in made.items():
        if span not in seen and len(calls) > 1 and _is_lost(analysis, calls):
            seen.add(span)
            yield _finding(analysis, calls[0])
    yield from _behind_schedule(analysis)


def _behind_schedule(analysis: Analysis) -> Iterator[Finding]:
    """A schedule that steps beside an optimizer which was made in the place of its own."""
    seen: set[int] = set()
    for event in analysis.events("scheduler_step"):
        scheduler = as_kind(event.subject, LibraryObject)
        own = as_kind(scheduler.given(0, "optimizer"), LibraryObject) if scheduler is not None else None
        if scheduler is None or own is None or scheduler.site is None or id(scheduler) in seen or not event.certain:
            continue
        seen.add(id(scheduler))
        for other in _trains_instead(analysis, own, event):
            if other.site is None or other.site.scene.moment < scheduler.site.scene.moment:
                continue
            text = message("optimizer.unscheduled", schedule=scheduler.type_name)
            places = (scheduler.site.span.related(message("optimizer.schedule")),)
            yield Finding(other.site.span, text, places, tuple(_scheduled_anew(analysis, scheduler.site, other.site)))
            break


def _trains_instead(analysis: Analysis, own: LibraryObject, event: Event) -> Iterator[LibraryObject]:
    """Optimizers that step in the loops of a schedule, with the parameters of another one that never does."""
    lost = {own.identity, id(own)} & set(analysis.trace.escaped)
    if lost or analysis.events_of(own, "step") or UNKNOWN in given_to(own) or not trained_parts(own):
        return
    loops = {point.execution for point in event.loops}
    parts = {part.identity for part in trained_parts(own)}
    for step in analysis.events("step"):
        other = as_kind(step.subject, LibraryObject)
        if other is None or {part.identity for part in trained_parts(other)} != parts:
            continue
        if loops & {point.execution for point in step.loops}:
            yield other


def _scheduled_anew(analysis: Analysis, schedule: Site, optimizer: Site) -> Iterator[Candidate]:
    """The statement that makes the schedule, once more behind the one that makes the optimizer."""
    made, new = statement_of(analysis, schedule), statement_of(analysis, optimizer)
    path = optimizer.span.path
    if not is_binding(made) or not is_binding(new) or schedule.span.path != path or not is_alone(new, analysis, path):
        return
    if new.targets[0].id in names_in(made.value):
        source = analysis.source_of(path)
        text = source.segment(made)
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_after(source, new, text),))


def _is_stateful(optimizer: LibraryObject) -> bool:
    momentum = as_kind(optimizer.given(2, "momentum", 0), int, float)
    moving = optimizer.type_name == "SGD" and momentum is not None and momentum > 0
    return optimizer.type_name in _STATEFUL or moving


def _is_lost(analysis: Analysis, calls: list[LibraryCall]) -> bool:
    """Whether each of these optimizers trains what the others do, in one step, and the loop neither resets the weights nor
    keeps states."""
    optimizers = [call.result for call in calls if isinstance(call.result, LibraryObject)]
    if any(UNKNOWN in given_to(one) or not trained_parts(one) for one in optimizers):
        return False
    if len({frozenset(part.identity for part in trained_parts(one)) for one in optimizers}) > 1:
        return False
    if any(id(one) in analysis.trace.escaped or one.identity in analysis.trace.escaped for one in optimizers):
        return False
    for call, optimizer in zip(calls, optimizers):
        steps = [event for event in analysis.events("step") if event.subject is optimizer]
        here = [(point.execution, point.iteration) for point in call.loops]
        if [[(point.execution, point.iteration) for point in event.loops] for event in steps] != [here]:
            return False
        if not all(event.certain for event in steps):
            return False
    return not any(_starts_over(call, calls[0].loops[-1]) for call in analysis.trace.calls)


def _starts_over(call: LibraryCall, point: LoopPoint) -> bool:
    inside = any(other.execution == point.execution for other in call.loops)
    return inside and call.name in _RESETS


def _finding(analysis: Analysis, call: LibraryCall) -> Finding:
    optimizer, point = as_kind(call.result, LibraryObject), call.loops[-1]
    assert optimizer is not None
    source = analysis.source_of(point.span.path)
    loop = loop_statement(analysis, point)
    head = loop.iter if isinstance(loop, ast.For) else loop.test if isinstance(loop, ast.While) else None
    places = (source.span(head).related(message("optimizer.each_step.loop")),) if head is not None else ()
    line = point.span.start.line
    text = message("optimizer.each_step", optimizer=optimizer.type_name, line=line)
    return Finding(call.site.span, text, places, tuple(_repairs(analysis, call)))


def _repairs(analysis: Analysis, call: LibraryCall) -> Iterator[Candidate]:
    """The statement above the outermost loop around it that nothing forbids, or a nearer one."""
    path, statement = call.site.span.path, as_kind(statement_of(analysis, call.site), ast.Assign)
    if statement is None or not is_alone(statement, analysis, path):
        return
    source = analysis.source_of(path)
    text = source.segment(statement)
    around = analysis.trail(path, statement)
    for loop in of_kind(around, ast.For, ast.While):
        title = message("fix.move_before", text=text, line=loop.lineno)
        yield Candidate(
            title, (edits.insert_line_before(source, loop, text), edits.remove_line(source, statement.lineno))
        )


RULE = Rule(FAULTS[CODE], find, of_absence=True)
