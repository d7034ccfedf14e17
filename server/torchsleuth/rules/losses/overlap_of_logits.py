"""overlap-of-logits: the overlap of a mask with values that are not probabilities.

What it finds
    The ratio of a Dice, Jaccard or similar loss (the sum of products over the sum of sums), computed from the raw output of a
    linear or convolution layer.
Why it hurts
    The ratio measures an overlap only between 0 and 1. Of raw outputs, it leaves that range: the loss becomes negative, the
    denominator passes through zero, and the larger the outputs, the better they seem. Nothing is raised.
Example
    scores = nn.Conv2d(3, 1, 1)(x)
    loss = 1 - 2 * (scores * mask).sum() / (scores.sum() + mask.sum())
Use instead
    scores = torch.sigmoid(nn.Conv2d(3, 1, 1)(x))
    loss = 1 - 2 * (scores * mask).sum() / (scores.sum() + mask.sum())
Fix safety
    Unsafe: for classes that exclude one another, softmax is meant instead of sigmoid.
References
    torch.sigmoid, torch.nn.functional.softmax
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import layer_places
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.evidence.overlaps import overlaps
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.values import Tensor

CODE = "TS321"
_QUOTIENTS = frozenset({"div", "truediv", "divide", "true_divide"})


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        for product, scores, mask in overlaps(operation) if operation.name in _QUOTIENTS else ():
            made = analysis.operation_of(product.origin)
            raw = "logits" in scores.tags and "logits" not in mask.tags and mask.spec.requires_grad is False
            if raw and made is not None and made.site.span not in seen:
                seen.add(made.site.span)
                yield _finding(analysis, made, scores)


def _finding(analysis: Analysis, product: Operation, scores: Tensor) -> Finding:
    places, layer = layer_places(analysis, scores)
    places += call_trail(product.site.scene, limit=1)
    index = next((index for index, one in enumerate(product.args) if one is scores), 0)
    node = operand_node(product, index)
    text = message("overlap.logits", tensor=expression_text(node, "the prediction"), layer=layer)
    return Finding(product.site.span, text, tuple(places), _probabilities(analysis, product, node))


def _probabilities(analysis: Analysis, product: Operation, node: ast.expr | None) -> Iterator[Candidate]:
    """The scores put through a sigmoid, at the beginning of the function that computes the overlap."""
    if not isinstance(node, ast.Name):
        return
    path = product.site.span.path
    source, tree = analysis.source_of(path), analysis.tree(path)
    same = analysis.index(path).same(node)
    around = of_kind(edits.path_to(tree, same), ast.FunctionDef) if same is not None else []
    if not around or node.id not in [part.arg for part in around[-1].args.args]:
        return
    first = around[-1].body[1 if ast.get_docstring(around[-1]) is not None and len(around[-1].body) > 1 else 0]
    line = f"{node.id} = torch.sigmoid({node.id})"
    edit = edits.insert_line_before(source, first, line)
    imports = edits.add_import(source, tree, "import torch")
    yield Candidate(message("fix.add", text=line), (*imports, edit), safe=False)


RULE = Rule(FAULTS[CODE], find)
