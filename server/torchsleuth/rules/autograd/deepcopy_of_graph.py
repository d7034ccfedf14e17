"""deepcopy-of-graph: a copy of an object that keeps a tensor with its graph.

What it finds
    copy.deepcopy of a module, a list or any other object that holds a tensor which was computed with gradients: mostly an
    activation that forward() keeps as an attribute.
Why it hurts
    RuntimeError "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment".
Example
    def forward(self, x):
        self.attention = self.score(x).softmax(dim=1)
        ...
    best = copy.deepcopy(model)
Use instead
    def forward(self, x):
        attention = self.score(x).softmax(dim=1)
        self.attention = attention.detach()
Fix safety
    Safe where the attribute is only looked at; a loss that is computed from it would lose its gradients.
References
    copy.deepcopy, torch.Tensor.detach
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import AttributeSet
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import faults, method_of
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_assignment, is_reference
from torchsleuth.values.graph import AutogradFault

CODE = "TS412"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "deepcopy"):
        kept = [one for one in analysis.trace.attributes if one.value is fault.tensor]
        text, places = message("grad.deepcopy.plain"), list[Related]()
        if kept:
            text = message("grad.deepcopy", tensor=f"`{kept[-1].owner.cls.name}.{kept[-1].name}`")
            places.append(kept[-1].site.span.related(message("grad.deepcopy.kept")))
        yield Finding(fault.at.span, text, tuple(places), tuple(_repairs(analysis, fault, kept)))


def _repairs(analysis: Analysis, fault: AutogradFault, kept: list[AttributeSet]) -> Iterator[Candidate]:
    """``.detach()`` where it is kept, or in the call itself."""
    for one in kept[-1:]:
        source, statement = one.site.source, statement_of(analysis, one.site)
        if is_assignment(statement):
            if isinstance(statement.targets[0], ast.Attribute):
                text = method_of(source, statement.value, "detach")
                title = message("fix.replace", old=source.segment(statement.value), new=text)
                yield Candidate(" ".join(title.split()), (edits.replace(source, statement.value, text),), safe=False)
    call = fault.at.call
    source = fault.at.source
    if not kept and call is not None and len(call.args) == 1 and is_reference(call.args[0]):
        given = source.segment(call.args[0])
        new = f"{given}.detach().clone()"
        yield replacement(source, call, new)


RULE = Rule(FAULTS[CODE], find)
