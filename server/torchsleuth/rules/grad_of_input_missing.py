"""grad-of-input-missing: `.grad` of a tensor that never gets one.

What it finds
    `x.grad` used as a tensor, where x does not require grad, or was computed and retain_grad() was not called.
Why it hurts
    `.grad` is None, whatever backward() does: "'NoneType' object has no attribute 'sign'".
Example
    loss = criterion(model(image), label)
    loss.backward()
    adversarial = image + 0.03 * image.grad.sign()
Use instead
    image.requires_grad_()
    loss = criterion(model(image), label)
    loss.backward()
    adversarial = image + 0.03 * image.grad.sign()
Fix safety
    Safe: without it the line fails.
References
    torch.Tensor.grad, torch.Tensor.retain_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.graph import AutogradFault
from torchsleuth.messages import message
from torchsleuth.rules.graphs import faults
from torchsleuth.rules.loops import is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS411"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "grad_missing"):
        node = fault.at.node
        if not isinstance(node, ast.Attribute) or not _is_used(analysis, node, fault.at.span.path):
            continue
        name = analysis.source_of(fault.at.span.path).segment(node.value)
        key = "grad.missing" if fault.tensor.spec.requires_grad is False else "grad.missing.computed"
        text = message(key, tensor=f"`{name}`", grad=f"`{name}.grad`")
        yield Finding(fault.at.span, text, (), tuple(_required(analysis, fault, node)))


def _is_used(analysis: Analysis, node: ast.Attribute, path: str) -> bool:
    """Whether None fails where the value stands: it is looked into, or computed with."""
    tree = analysis.tree(path)
    for parent in ast.walk(tree):
        for part in ast.iter_child_nodes(parent):
            if not isinstance(part, ast.Attribute) or part.attr != "grad":
                continue
            if (part.lineno, part.col_offset) == (node.lineno, node.col_offset):
                return isinstance(parent, ast.Attribute | ast.Subscript | ast.BinOp | ast.UnaryOp | ast.AugAssign)
    return False


def _required(analysis: Analysis, fault: AutogradFault, node: ast.Attribute) -> Iterator[Candidate]:
    """Ask for the gradient, in front of the first statement of the same block that uses the tensor after it was made."""
    path = fault.at.span.path
    source, tree = analysis.source_of(path), analysis.tree(path)
    statement = statement_of(analysis, fault.at)
    if not isinstance(node.value, ast.Name) or statement is None:
        return
    name = node.value.id
    method = "requires_grad_" if fault.tensor.spec.requires_grad is False else "retain_grad"
    trail = [part for part in edits.path_to(tree, statement) if isinstance(part, ast.stmt | ast.Module)]
    for block in reversed(trail[:-1]):
        body: list[ast.stmt] = getattr(block, "body", [])
        before = [part for part in body if part.lineno < statement.lineno]
        first = next((part for part in before if _loads(part, name)), None)
        if first is not None and is_simple(first, analysis, path):
            text = f"{name}.{method}()"
            edit = edits.insert_line_before(source, first, text)
            yield Candidate(message("fix.insert", text=text), (edit,))


def _loads(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        for part in ast.walk(statement)
    )


RULE = Rule(
    CODE,
    "grad-of-input-missing",
    "error",
    "autograd",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
from torch import nn

model = nn.Linear(4, 2)
image, label = torch.rand(1, 4), torch.tensor([1])
loss = nn.functional.cross_entropy(model(image), label)
loss.backward()
adversarial = image + 0.03 * image.grad.sign()
#                            ^^^^^^^^^^ TS411: `image` never required grad, so `image.grad` is None
""",
            fixed="""
import torch
from torch import nn

model = nn.Linear(4, 2)
image, label = torch.rand(1, 4), torch.tensor([1])
image.requires_grad_()
loss = nn.functional.cross_entropy(model(image), label)
loss.backward()
adversarial = image + 0.03 * image.grad.sign()
""",
            good="""
import torch
from torch import nn

model = nn.Linear(4, 2)
image, label = torch.rand(1, 4, requires_grad=True), torch.tensor([1])
loss = nn.functional.cross_entropy(model(image), label)
loss.backward()
adversarial = image + 0.03 * image.grad.sign()
""",
        ),
    ),
)
