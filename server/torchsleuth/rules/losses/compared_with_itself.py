"""compared-with-itself: each sample of a batch is to find itself.

What it finds
    A loss of classes of `z @ z.T`, the products of all rows of one tensor with one another, whose targets are 0, 1, 2, …: the
    product of each row with itself.
Why it hurts
    The largest product of unit vectors is that of each with itself, whatever the model does: the loss is small from the first
    step on, and views of one sample are not drawn together. Nothing is raised.
Example
    logits = z1 @ z1.T / 0.1
    loss = F.cross_entropy(logits, torch.arange(len(z1)))
Use instead
    logits = z1 @ z2.T / 0.1
    loss = F.cross_entropy(logits, torch.arange(len(z1)))
Fix safety
    Unsafe: the other tensor is one of the same size that is at hand.
References
    "Learning Transferable Visual Models From Natural Language Supervision" (Radford et al.), figure 3
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import repeated
from torchsleuth.rules.evidence.operands import behind, made_by, operand, operands, replaced, tensors_above
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import nodes_in
from torchsleuth.synthesis.shapes import same_shape
from torchsleuth.values import Tensor

CODE = "TS338"
_LOSSES = frozenset({"cross_entropy", "CrossEntropyLoss"})
_PRODUCTS = frozenset({"matmul", "mm"})
_SCALES = frozenset("mul div truediv to float".split())
_TURNS = frozenset("t T mT transpose permute contiguous".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for loss in analysis.trace.operations:
        scores, target = (
            (operand(loss, 0, "input"), operand(loss, 1, "target")) if loss.name in _LOSSES else (None, None)
        )
        if scores is None or target is None or not repeated(loss):
            continue
        if made_by(analysis, target.tensor, ("arange",), ("to", "long")) is None:
            continue
        product = made_by(analysis, scores.tensor, _PRODUCTS, _SCALES)
        if product is None or product.site.span in seen or len(product.operands) != 2:
            continue
        if _is_one(analysis, product):
            seen.add(product.site.span)
            yield _finding(product, loss)


def _is_one(analysis: Analysis, product: Operation) -> bool:
    """Whether both factors are one tensor, turned or not."""
    one, other = (behind(analysis, factor, _TURNS) for factor in product.operands)
    return one.is_one_with(other)


def _finding(product: Operation, loss: Operation) -> Finding:
    text = message("itself.compared", tensor=operands(product)[0].text("this tensor"))
    place = loss.site.span.related(message("itself.loss"))
    return Finding(product.site.span, text, (place,), tuple(_other(product)))


def _other(product: Operation) -> Iterator[Candidate]:
    """A tensor of the same size that is at hand, computed alike, as the second factor."""
    first, second = operands(product)
    scene = product.site.scene
    if not isinstance(first.node, ast.Name) or second.node is None:
        return
    made = first.tensor.origin.operator if first.tensor.origin is not None else None
    for name in tensors_above(scene, first.node):
        tensor = scene.names[name]
        alike = isinstance(tensor, Tensor) and tensor.origin is not None and tensor.origin.operator == made
        if name != first.node.id and alike and isinstance(tensor, Tensor) and tensor.spec.shape is not None:
            if same_shape(tensor.spec.shape, first.shape):
                for node in nodes_in(second.node, ast.Name):
                    if node.id == first.node.id:
                        yield replaced(product.site, node, name, safe=False)


RULE = Rule(FAULTS[CODE], find)
