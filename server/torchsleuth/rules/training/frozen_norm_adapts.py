"""frozen-norm-adapts: a frozen part whose batch norm goes on adapting its statistics.

What it finds
    A model that is trained in training mode while a part of it is frozen, and that part holds batch normalisation which is in
    training mode, too: train() of the model has put it there. It is a warning where the part was in evaluation when it was frozen.
Why it hurts
    requires_grad says nothing of the running means and variances. In training mode each batch moves them, and the layers normalise
    by the batch: the frozen part is not the one that was pretrained, and drifts with small or unusual batches.
Example
    for p in model.backbone.parameters():
        p.requires_grad = False
    model.train()
Use instead
    model.train()
    model.backbone.eval()
Fix safety
    Some let the statistics adapt to new data on purpose; and so it is not safe.
References
    torch.nn.BatchNorm2d, torch.nn.Module.train
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.trace import Event, Switch
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import covers
from torchsleuth.rules.evidence.modes import back_in_eval, name_below
from torchsleuth.rules.evidence.norms import batch_norms
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span

CODE = "TS551"


def find(analysis: Analysis) -> Iterator[Finding]:
    freezes = [one for one in analysis.trace.switches if _is_whole(one)]
    modes = [one for one in analysis.trace.events if one.kind in ("train", "eval")] if freezes else []
    looked: set[tuple[Span, int]] = set()
    for event in analysis.events("forward") if freezes else ():
        trains = event.training is True and event.grad and event.forward_id in analysis.trace.consumed
        place = (event.site.span, id(event.subject))
        if not trains or place in looked:
            continue
        looked.add(place)
        for freeze in freezes:
            reaching = [one for one in modes if one.index < event.index and covers(one, freeze.module)]
            train = reaching[-1] if reaching else None
            name = name_below(event.subject, freeze.module)
            asked = any(one.kind == "eval" and one.subject is freeze.module for one in reaching)  # that is TS553
            if (
                asked
                or not name
                or (train is not None and train.kind == "eval")
                or not _is_frozen(analysis, event, freeze)
            ):
                continue
            site = freeze.site if train is None else train.site
            norm = next(part.type_name for part in batch_norms(freeze.module))
            text = message("frozen.norm", part=f"`{name}`", norm=norm)
            places = (freeze.site.span.related(message("frozen.norm.here")),) if train is not None else ()
            fixes = tuple(back_in_eval(analysis, train, name, safe=False)) if train is not None else ()
            before = [one for one in modes if one.index < freeze.after and covers(one, freeze.module)]
            evaluated = bool(before) and before[-1].kind == "eval" and train is not None
            yield Finding(site.span, text, places, fixes, severity="warning" if evaluated else None)
            break


def _is_whole(freeze: Switch) -> bool:
    """Whether all of a part is frozen that has a norm."""
    return not freeze.value and not freeze.some and freeze.certain and any(True for _ in batch_norms(freeze.module))


def _is_frozen(analysis: Analysis, event: Event, freeze: Switch) -> bool:
    """Whether a part is still frozen where a model is trained."""
    switches = analysis.trace.switches
    later = [one for one in switches[switches.index(freeze) + 1 :] if one.value]
    thawed = any(part is other.module for other in later for part in descendants(freeze.module))
    above = any(part is freeze.module for other in later for part in descendants(other.module))
    return freeze.after <= event.index and not thawed and not above


RULE = Rule(FAULTS[CODE], find)
