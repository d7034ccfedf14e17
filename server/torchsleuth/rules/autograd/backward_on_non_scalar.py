"""backward-on-non-scalar: backward() on a tensor of more than one element.

What it finds
    A loss per sample, from reduction="none" or own arithmetic, that is never reduced before backward(); a list of losses,
    or a tuple of the loss and other things, on which backward() is called.
Why it hurts
    PyTorch raises "grad can be implicitly created only for scalar outputs", Python "'list' object has no attribute
    'backward'".
Example
    loss = nn.CrossEntropyLoss(reduction="none")(logits, labels) * weights
    loss.backward()
Use instead
    loss = (nn.CrossEntropyLoss(reduction="none")(logits, labels) * weights).mean()
    loss.backward()
Fix safety
    Unsafe: mean() and sum() differ by the size of the batch, and so does the learning rate they want.
References
    torch.Tensor.backward
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import expression_text, shape_text
from torchsleuth.rules.evidence.graphs import faults, last_assignment, method_of, name_of, started_from
from torchsleuth.rules.evidence.operands import short
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.values import ListValue, Tensor
from torchsleuth.values.graph import AutogradFault

CODE = "TS406"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "not_scalar"):
        shape = shape_text(fault.tensor.spec)
        text = message("grad.not_scalar", tensor=name_of(fault), shape=shape)
        yield Finding(fault.at.span, text, (), _reduced(analysis, fault))
    for fault in faults(analysis, "sequence"):
        node = as_kind(fault.at.node, ast.Attribute)
        if node is not None:
            kind = "tuple" if isinstance(fault.tensor, tuple) else "list"
            tensor = expression_text(node.value, "the value")
            text = message("grad.sequence", tensor=tensor, kind=kind)
            yield Finding(fault.at.span, text, (), _picked(analysis, fault, node.value))


def _picked(analysis: Analysis, fault: AutogradFault, receiver: ast.expr) -> Iterator[Candidate]:
    """The sum of several losses, or the first part of what also holds other things."""
    items = fault.tensor.elements if isinstance(fault.tensor, ListValue) else fault.tensor
    parts = items or ()
    source = fault.at.source
    text = source.segment(receiver)
    first = Candidate(
        message("fix.append", expression=text, suffix="[0]"), (edits.insert_after_node(source, receiver, "[0]"),), False
    )
    if parts and all(isinstance(part, Tensor) and part.spec.shape == () for part in parts):
        new = f"sum({text})"
        made = last_assignment(analysis, receiver, fault.at)
        if made is not None and not isinstance(made, ast.Tuple | ast.Starred | ast.GeneratorExp):
            whole = f"sum({source.segment(made)})"
            title = message("fix.replace", old=short(source.segment(made)), new=short(whole))
            yield Candidate(title, (edits.replace(source, made, whole),), safe=False)
        yield Candidate(message("fix.replace", old=text, new=new), (edits.replace(source, receiver, new),), safe=False)
        yield first
    else:
        yield first


def _reduced(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    call = fault.at.node
    if not is_method_call(call):
        return
    source = fault.at.source
    receiver = started_from(fault) or call.func.value
    made = last_assignment(analysis, receiver, fault.at)
    for method in ("mean", "sum"):
        title = message("fix.reduce", method=method)
        wanted = receiver if made is None else made
        yield Candidate(title, (edits.replace(source, wanted, method_of(source, wanted, method)),), safe=False)
    if made is not None:
        edit = edits.replace(source, receiver, method_of(source, receiver, "mean"))
        yield Candidate(message("fix.reduce_here", method="mean"), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)
