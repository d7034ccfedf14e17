"""train-mode-not-restored: training goes on in evaluation mode.

What it finds
    A training step whose model was in training mode the first time, and is in evaluation mode the next time, because
    the evaluation in between called eval() and nothing called train() again. Only for models with dropout or batch
    normalisation.
Why it hurts
    From the second epoch on, dropout is off and batch norm no longer follows the data; the model overfits, or stops
    improving.
Example
    model.train()
    for epoch in range(epochs):
        train(model)
        evaluate(model)  # calls model.eval()
Use instead
    for epoch in range(epochs):
        model.train()
        train(model)
        evaluate(model)
Fix safety
    Safe: the first epoch already runs in training mode.
References
    torch.nn.Module.train
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import parts_of, stands_for_any
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.evaluations import trained_evaluations
from torchsleuth.rules.evidence.loops import (
    called_text,
    common_loop,
    covers,
    is_simple,
    loop_statement,
    made_alike,
    recurs,
    statement_of,
    unseen,
    within,
)
from torchsleuth.rules.evidence.modes import mode_dependent
from torchsleuth.rules.evidence.modules import wholly_frozen
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import stands_on
from torchsleuth.values import Value

CODE = "TS507"


def find(analysis: Analysis) -> Iterator[Finding]:
    found: dict[Span, tuple[Event, Event, str]] = {}
    trained = {forward for event in analysis.trace.events if event.kind == "backward" for forward in event.history}
    for event in analysis.trace.events:
        span = event.site.span
        if event.kind != "forward" or span in found or event.forward_id not in trained:
            continue
        if wholly_frozen(event.subject):  # it compares features, say
            continue
        layer = _dependent(analysis, event.subject) if event.grad and event.certain else None
        switch = _switch(analysis, event, trained) if layer is not None else None
        if switch is not None and layer is not None:
            found[span] = (event, switch, layer)
    found = {span: item for span, item in found.items() if not _partly_restored(analysis, item[0], item[1])}
    if found and not unseen(analysis, "train"):
        evaluations = {forward for one in trained_evaluations(analysis) for forward in one.backward.history}
        for event, switch, layer in found.values():
            if event.forward_id not in evaluations:
                yield _finding(analysis, event, switch, layer)


def _partly_restored(analysis: Analysis, event: Event, switch: Event) -> bool:
    """Whether a part of the module is put into training mode beside the switch, and the rest is left alone on purpose."""
    parts = {id(part) for part in parts_of(event.subject)} - {id(event.subject)}
    return any(
        other.kind == "train" and id(other.subject) in parts
        for other in analysis.trace.events
        if common_loop(other, event) is not None or switch.index < other.index < event.index
    )


def _dependent(analysis: Analysis, module: Value) -> str | None:
    """The part of a module that depends on its mode. One that nobody passes has such layers: otherwise, nobody would switch it."""
    layer = next(mode_dependent(analysis, module), None)
    if layer is None:
        return message("train.missing.any") if stands_for_any(module) else None
    return layer.name


def _switch(analysis: Analysis, event: Event, trained: set[int]) -> Event | None:
    """The eval() of an evaluation after which a forward that trains is in evaluation mode, and was not at first. `trained`: the
    forwards of which something goes backward."""
    events = analysis.trace.events
    if event.training is False:
        began = next((other for other in events[: event.index] if _trains_alike(other, event)), None)
        if began is None:
            return _evaluated_first(events, event)
        between = events[began.index : event.index]
        modes = [other for other in between if other.kind in ("eval", "train") and _reaches(other, event)]
        stepped = any(other.kind in ("step", "backward") for other in between)
        switch = modes[-1] if modes and modes[-1].kind == "eval" and stepped else None
        # Training that an eval() begins with is meant so: batch norm is to stay as it is.
        since = events[switch.index : event.index] if switch is not None else []
        evaluated = any(other.kind == "forward" and other.forward_id not in trained for other in since)
        return switch if evaluated else None
    # In training mode, but only until what comes later in the same loop switches it off every so often.
    modes = [other for other in events if other.kind in ("eval", "train") and _reaches(other, event)]
    for switch in modes:
        point = common_loop(event, switch)
        if event.training is True and switch.index > event.index and switch.kind == "eval" and point is not None:
            restored = any(other.kind == "train" and within(other, point) for other in modes)
            if not switch.certain and recurs(analysis, switch) and not restored:
                return switch
    return None


def _evaluated_first(events: list[Event], event: Event) -> Event | None:
    """The eval() of an evaluation that the first step is behind, in the loop for which the model was put into training mode."""
    modes = [other for other in events[: event.index] if other.kind in ("eval", "train") and _reaches(other, event)]
    if len(modes) < 2 or modes[-1].kind != "eval" or modes[-2].kind != "train" or not modes[-2].certain:
        return None
    switch = modes[-1]
    between = (other for other in events[switch.index : event.index] if other.kind == "forward")
    evaluated = any(other.grad is False and made_alike(other.subject, event.subject) for other in between)
    point = common_loop(event, switch)
    return switch if evaluated and point is not None else None


def _trains_alike(other: Event, event: Event) -> bool:
    """Whether the same call trained the module, or one that it is a copy of, in training mode."""
    same = other.kind == "forward" and other.site.span == event.site.span and made_alike(other.subject, event.subject)
    return same and other.training is True and bool(other.grad)


def _reaches(mode: Event, event: Event) -> bool:
    """Whether a call of train() or eval() sets the mode of the module of a forward, or of what it is a copy of."""
    return covers(mode, event.subject) or made_alike(mode.subject, event.subject)


def _finding(analysis: Analysis, event: Event, switch: Event, layer: str) -> Finding:
    name = called_text(event)
    places = (switch.site.span.related(message("train.missing.eval")),)
    text = message(
        "train.missing",
        module=f"`{name}`" if name else "the model",
        layer=layer,
        line=switch.site.span.start.line,
    )
    return Finding(event.site.span, text, places, _inserted(analysis, event, name))


def _inserted(analysis: Analysis, event: Event, name: str | None) -> Iterator[Candidate]:
    """``model.train()`` before the loop over the batches, or at the beginning of each iteration."""
    path = event.site.span.path
    if name is None:
        return
    here: list[ast.stmt] = []
    statement = statement_of(analysis, event.site)
    for point in reversed(event.loops):
        loop = loop_statement(analysis, point) if point.span.path == path else None
        if loop is not None and stands_on(loop, event.site.span.start.line):
            here.append(loop)
    places = [*here[:1], *([here[-1].body[0]] if here and isinstance(here[-1], ast.For | ast.While) else [])]
    if event.training is True and here and isinstance(here[0], ast.For | ast.While):
        places.insert(0, here[0].body[0])
    if statement is not None and (not here or event.training is False):
        places.append(statement)
    title = message("fix.insert", text=f"{name}.train()")
    for place in places:
        if is_simple(place, analysis, path):
            edit = edits.insert_line_before(analysis.source_of(path), place, f"{name}.train()")
            yield Candidate(title, (edit,))


RULE = Rule(FAULTS[CODE], find, of_absence=True)
