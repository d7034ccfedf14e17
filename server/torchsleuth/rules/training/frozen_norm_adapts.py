"""frozen-norm-adapts: a frozen part whose batch norm goes on adapting its statistics.

What it finds
    A model that is trained in training mode while a part of it is frozen, and that part holds batch normalisation which is in
    training mode, too: train() of the model has put it there.
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
from torchsleuth.interp.library.hierarchy import descendants, named_children
from torchsleuth.interp.trace import Event, Switch
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import covers, is_simple, receiver_text, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, related
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryModule, Value

CODE = "TS551"
_NORMS = frozenset("BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    for event in analysis.events("forward"):
        if event.training is not True or not event.grad or event.forward_id not in analysis.trace.consumed:
            continue
        for freeze in analysis.trace.switches:
            modes = [one for one in analysis.trace.events[: event.index] if _reaches(one, freeze)]
            train = modes[-1] if modes else None
            site = freeze.site if train is None else train.site
            if (
                site.span in reported
                or (train is not None and train.kind == "eval")
                or not _is_frozen(analysis, event, freeze)
            ):
                continue
            reported.add(site.span)
            name = _name_below(event.subject, freeze.module)
            norm = next(part.type_name for part in _norms(freeze.module))
            text = message("frozen.norm", part=f"`{name}`", norm=norm)
            source = analysis.source_of(freeze.site.span.path)
            places = (related(source, freeze.site.node, message("frozen.norm.here")),) if train is not None else ()
            yield Finding(
                site.span, text, places, tuple(_put_back(analysis, train, freeze)) if train is not None else ()
            )


def _reaches(event: Event, freeze: Switch) -> bool:
    return event.kind in ("train", "eval") and covers(event, freeze.module)


def _is_frozen(analysis: Analysis, event: Event, freeze: Switch) -> bool:
    """Whether a part of what runs here is frozen as a whole, has a norm, and something else is trained."""
    if (
        freeze.value
        or freeze.some
        or not freeze.certain
        or freeze.after > event.index
        or not _name_below(event.subject, freeze.module)
    ):
        return False
    switches = analysis.trace.switches
    later = [one for one in switches[switches.index(freeze) + 1 :] if one.value]
    thawed = any(part is other.module for other in later for part in descendants(freeze.module))
    above = any(part is freeze.module for other in later for part in descendants(other.module))
    return not thawed and not above and any(True for _ in _norms(freeze.module))


def _norms(module: Value) -> Iterator[LibraryModule]:
    """The batch norms that keep statistics of what they have seen."""
    for part in of_kind(descendants(module), LibraryModule):
        if part.type_name in _NORMS and part.kwargs.get("track_running_stats", True) is True:
            yield part


def _name_below(whole: Value, part: Value) -> str:
    """The name of a part within a module, empty where it is none, or the whole."""
    for name, child in named_children(whole):
        if child is part:
            return name
        below = _name_below(child, part)
        if below:
            return f"{name}.{below}"
    return ""


def _put_back(analysis: Analysis, train: Event, freeze: Switch) -> Iterator[Candidate]:
    """``model.backbone.eval()`` behind ``model.train()``."""
    statement, model = statement_of(analysis, train.site), receiver_text(analysis, train.site)
    name = _name_below(train.subject, freeze.module)
    plain = all(part.isidentifier() for part in name.split("."))
    if statement is not None and model and name and plain and is_simple(statement, analysis, train.site.span.path):
        line = f"{model}.{name}.eval()"
        edit = edits.insert_line_after(analysis.source_of(train.site.span.path), statement, line)
        yield Candidate(message("fix.insert", text=line), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)
