"""eval-undone: a part that was put into evaluation mode, and that train() of the whole takes out of it before it runs.

What it finds
    eval() of a part of a model, such as a teacher or a frozen backbone, followed by train() of the model that holds it; the part
    then runs in training mode, and has dropout or batch normalisation.
Why it hurts
    train() reaches every part, whatever was said of it before. The teacher drops units at random, or the backbone goes on adapting
    its statistics, and nothing fails.
Example
    self.teacher = teacher.eval()
    ...
    model.train()
Use instead
    model.train()
    model.teacher.eval()
Fix safety
    Safe: the part is in the mode that was asked for.
References
    torch.nn.Module.train
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants, parts_of
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import covers, trained_by
from torchsleuth.rules.evidence.modes import back_in_eval, mode_dependent, name_below
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.values import LibraryModule, Value, is_module

CODE = "TS553"


def find(analysis: Analysis) -> Iterator[Finding]:
    modes = [one for one in analysis.trace.events if one.kind in ("train", "eval")]
    parts = {id(one.subject): one.subject for one in modes if one.kind == "eval" and is_module(one.subject)}
    looked: set[tuple[Span, int]] = set()
    reported: set[Span] = set()
    for forward in analysis.events("forward") if parts else ():
        for part in parts.values():
            here = (forward.site.span, id(part))
            if forward.training is not True or here in looked or not covers(forward, part):
                continue
            own = [one for one in modes if one.index < forward.index and covers(one, part)]
            asked = next((one for one in reversed(own) if one.kind == "eval"), None)
            if asked is not None:
                looked.add(here)
            if asked is None or asked.subject is not part or own[-1].kind != "train" or own[-1].site.span in reported:
                continue
            undoing, name = own[-1], name_below(own[-1].subject, part)
            layer = _layer_that_runs(analysis, part)
            if name and layer is not None and _is_undone(analysis, asked, undoing, part):
                reported.add(undoing.site.span)
                text = message("mode.undone", part=f"`{name}`", layer=layer, line=asked.site.span.start.line)
                places = (asked.site.span.related(message("mode.undone.asked")),)
                yield Finding(undoing.site.span, text, places, tuple(back_in_eval(analysis, undoing, name, safe=True)))


def _layer_that_runs(analysis: Analysis, part: Value) -> str | None:
    """A layer of a part that computes something else in training mode, and that is called."""
    layers = {id(one) for one in descendants(part)}
    if not any(one.module is not None and id(one.module) in layers for one in analysis.trace.operations):
        return None
    return next((one.name for one in mode_dependent(analysis, part)), None)


def _is_undone(analysis: Analysis, asked: Event, undoing: Event, part: Value) -> bool:
    """Whether the part was asked into evaluation for what comes, not for a measurement that is over; nothing trains it later."""
    events = analysis.trace.events
    ran = any(one.kind == "forward" and covers(one, part) for one in events[asked.index : undoing.index])
    learns = any(
        one.requires_grad if isinstance(one, LibraryModule) else one.spec.requires_grad for one in parts_of(part)
    )
    trained = learns and any(one.kind == "step" and trained_by(one.subject, part) for one in events[undoing.index :])
    return asked.certain and undoing.certain and not ran and not trained


RULE = Rule(FAULTS[CODE], find)
