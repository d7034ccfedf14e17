"""nothing-to-train: everything is frozen, and an optimizer is given what is left.

What it finds
    An optimizer for the parameters that require grad, of a model all of which is frozen by then: often the new head was put in in
    front of the loop that freezes.
Why it hurts
    ValueError "optimizer got an empty parameter list".
Example
    model.fc = nn.Linear(512, 4)
    for parameter in model.parameters():
        parameter.requires_grad = False
    optimizer = torch.optim.Adam(p for p in model.parameters() if p.requires_grad)
Use instead
    for parameter in model.parameters():
        parameter.requires_grad = False
    model.fc = nn.Linear(512, 4)
    optimizer = torch.optim.Adam(p for p in model.parameters() if p.requires_grad)
Fix safety
    Unsafe: that the part which was put in last is the one to train is a guess.
References
    torch.optim.Optimizer, torch.nn.Module.requires_grad_
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import freeze_of_all
from torchsleuth.interp.trace import AttributeSet, PartSet
from torchsleuth.messages import message
from torchsleuth.rules.evidence.filtered import filtered
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.values import LibraryObject, Site, is_module

CODE = "TS589"


def find(analysis: Analysis) -> Iterator[Finding]:
    for path, calls in analysis.calls.items():
        for call in calls if path.startswith("torch.optim.") and path.count(".") == 2 else ():
            optimizer = as_kind(call.result, LibraryObject)
            freeze = freeze_of_all(optimizer) if optimizer is not None else None
            if freeze is not None and filtered(analysis, call) is not None:
                text = message("nothing.left", optimizer=path.rpartition(".")[2], line=call.site.span.start.line)
                places = (call.site.span.related(message("nothing.left.optimizer")),)
                yield Finding(freeze.span, text, places, tuple(_thawed(analysis, freeze)))


def _thawed(analysis: Analysis, freeze: Site) -> Iterator[Candidate]:
    """The part that was put in last, before all was frozen, is trained."""
    trace, moment = analysis.trace, freeze.scene.moment
    new: list[AttributeSet | PartSet] = [*trace.parts_set, *(one for one in trace.attributes if one.ready)]
    before = [one for one in new if one.site.scene.moment < moment and is_module(one.value)]
    put = max(before, key=lambda one: one.site.scene.moment, default=None)
    if put is None or put.site.span.path != freeze.span.path:
        return
    assigned = analysis.index(put.site.span.path).of_type(ast.Assign)
    target = next((one.targets[0] for one in assigned if put.site.node in ast.walk(one)), None)
    trail = edits.path_to(analysis.tree(freeze.span.path), freeze.node)
    block = next((part for part in trail if isinstance(part, ast.For)), None)
    statement = block or next((part for part in reversed(trail) if isinstance(part, ast.stmt)), None)
    if isinstance(target, ast.Attribute) and statement is not None:
        thaw = f"{freeze.source.segment(target)}.requires_grad_(True)"
        edit = edits.insert_line_after(freeze.source, statement, thaw)
        yield Candidate(message("fix.insert", text=thaw), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)
