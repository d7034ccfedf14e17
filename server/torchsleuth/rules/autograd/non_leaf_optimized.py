"""non-leaf-optimized: an optimizer that is given a tensor which was computed.

What it finds
    A tensor in the parameters of an optimizer that was computed from one that requires grad: scaled, moved or converted
    after `requires_grad=True`.
Why it hurts
    ValueError "can't optimize a non-leaf Tensor".
Example
    image = torch.rand(1, 3, 64, 64, requires_grad=True) * 0.1
    optimizer = torch.optim.Adam([image])
Use instead
    image = (torch.rand(1, 3, 64, 64) * 0.1).requires_grad_()
    optimizer = torch.optim.Adam([image])
Fix safety
    Safe: what was computed becomes the leaf, with the same values.
References
    torch.Tensor.is_leaf, torch.Tensor.requires_grad_
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import faults, method_of
from torchsleuth.rules.evidence.loops import name_in, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.values.graph import AutogradFault, node_of

CODE = "TS413"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "non_leaf"):
        node = node_of(fault.tensor)
        if node is None or fault.at.call is None:
            continue
        source = fault.at.source
        name = name_in(fault.at.scene, fault.tensor)
        text = message(
            "grad.non_leaf",
            optimizer=source.segment(fault.at.call.func).rpartition(".")[2],
            tensor=f"`{name}`" if name else message("grad.non_leaf.tensor"),
            operator=node.operator,
        )
        places = (node.site.span.related(message("grad.non_leaf.made")),)
        yield Finding(fault.at.span, text, places, tuple(_cut(analysis, fault)))


def _cut(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """``x = (…).detach().requires_grad_()`` where it is assigned."""
    node = node_of(fault.tensor)
    statement = as_kind(statement_of(analysis, node.site), ast.Assign, ast.AnnAssign) if node is not None else None
    if node is not None and statement is not None and statement.value is not None:
        source = node.site.source
        if source.span(statement.value) == node.site.span:
            text = method_of(source, statement.value, "detach") + ".requires_grad_()"
            edit = edits.replace(source, statement.value, text)
            yield Candidate(message("fix.new_leaf", text=" ".join(text.split())), (edit,))


RULE = Rule(FAULTS[CODE], find)
