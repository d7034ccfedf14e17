"""Faults in the order of a training loop and in the form of a loss, as a run has seen them, with the numbers it counted.

Each needs several steps that agree. What the text shows too has the same code here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Position
from torchsleuth.syntax.text import SourceText
from torchsleuth.training import Event, Optimizer, Place, Training

Sources = Callable[[str], SourceText]
ENOUGH = 3
"""Steps that have to show a fault."""


def verdicts(training: Training, sources: Sources) -> tuple[Diagnostic, ...]:
    """The findings about a training, in the order of their harm, one for each place and code."""
    found: dict[object, Diagnostic] = {}
    for diagnostic in (*_of_optimizers(training, sources), *_of_events(training, sources)):
        found.setdefault((diagnostic.code, diagnostic.path, diagnostic.start.line), diagnostic)
    return tuple(found.values())


def _of_optimizers(training: Training, sources: Sources) -> Iterator[Diagnostic]:
    for optimizer in training.optimizers:
        code, place, text = _about(optimizer)
        if code and place is not None:
            yield _diagnostic(code, place, text, sources)


def _about(optimizer: Optimizer) -> tuple[str, Place | None, str]:
    """Code, place and message of what is wrong with the steps of an optimizer; empty where nothing is."""
    steps, values = optimizer.steps, {"type": optimizer.type, "steps": optimizer.steps}
    if optimizer.closure or steps < ENOUGH:
        return "", None, ""
    if optimizer.without_gradients == steps:
        if optimizer.backwards == 0:
            return "TS502", optimizer.step_place, message("run.no_backward", **values)
        if optimizer.cleared_after_backward >= steps - 1:  # before the first one, the optimizer was not known
            return "TS504", optimizer.clear_place, message("run.cleared_early", **values)
    elif steps > ENOUGH and optimizer.uncleared == steps - 1 and optimizer.clear_place is None:
        return "TS501", optimizer.backward_place, message("run.not_cleared", count=optimizer.uncleared, **values)
    return "", None, ""


_EVENTS = {
    "softmax-before-cross-entropy": ("TS303", "run.softmax_before"),
    "sigmoid-before-bce-with-logits": ("TS304", "run.sigmoid_before"),
    "softmax-over-batch": ("TS308", "run.softmax_batch"),
    "loss-broadcast": ("TS114", "run.broadcast"),
    "clip-after-step": ("TS509", "run.clip_late"),
}
"""Code and message by the kind of an event."""


def _of_events(training: Training, sources: Sources) -> Iterator[Diagnostic]:
    for event in training.events:
        known = _EVENTS.get(event.kind)
        if known is None or event.place is None or event.count < ENOUGH or _also_otherwise(event, training):
            continue
        values = {"layer": "", "shape": "", **event.details, "count": event.count}
        yield _diagnostic(known[0], event.place, message(known[1], **values), sources)


def _also_otherwise(event: Event, training: Training) -> bool:
    """Whether the same call clips in the right place, too."""
    return event.kind == "clip-after-step" and any(
        other.kind == "clip" and other.place == event.place for other in training.events
    )


def _diagnostic(code: str, place: Place, text: str, sources: Sources) -> Diagnostic:
    source = sources(place.path)
    if place.span is not None:
        start, end = (source.from_utf8(*place.span[index : index + 2]) for index in (0, 2))
    else:
        line = source.line(place.line)
        start = Position(place.line, len(line) - len(line.lstrip()) + 1)
        end = Position(place.line, len(line) + 1)
    fault = FAULTS[code]
    return Diagnostic(place.path, code, fault.name, "warning", text, start, end, layer="run")
