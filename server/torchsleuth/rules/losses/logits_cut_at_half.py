"""logits-cut-at-half: raw scores that are rounded, or compared with 0.5, as if they were probabilities.

What it finds
    `scores > 0.5` and `scores.round()` of the raw output of a linear or convolution layer, where the script elsewhere puts
    the output of the same layer through a sigmoid: itself, or in binary_cross_entropy_with_logits.
Why it hurts
    A score of 0.5 is a probability of 0.62. Predictions between 0.5 and 0.62 are counted as negative, so that accuracy, IoU
    and the masks are worse than the model; round() also makes classes 2, 3 and -1. Nothing is raised.
Example
    loss = F.binary_cross_entropy_with_logits(model(x), y)
    accuracy = ((model(x) > 0.5) == y).float().mean()
Use instead
    loss = F.binary_cross_entropy_with_logits(model(x), y)
    accuracy = ((torch.sigmoid(model(x)) > 0.5) == y).float().mean()
Fix safety
    Safe: probabilities were meant. `scores > 0` says the same.
References
    torch.nn.BCEWithLogitsLoss, torch.sigmoid
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import LAYERS, applied, layer_places
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.evidence.operands import append
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.values import LibraryModule, Tensor

CODE = "TS328"
_COMPARISONS = frozenset("gt ge lt le greater greater_equal less less_equal".split())
_PICKS = tuple("getitem chunk split unbind select narrow index_select masked_select gather".split())
_SQUASHES = frozenset("sigmoid Sigmoid binary_cross_entropy_with_logits BCEWithLogitsLoss".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    cuts = [operation for operation in analysis.trace.operations if _cuts(operation)]
    squashed = _layers_of_logits(analysis) if cuts else set()
    seen: set[Span] = set()
    for operation in cuts:
        layer = _layer(analysis, operation.operands[0])
        if layer is not None and layer.identity in squashed and operation.site.span not in seen:
            seen.add(operation.site.span)
            yield _finding(analysis, operation)


def _cuts(operation: Operation) -> bool:
    """Whether raw scores are compared with one half, or rounded."""
    given = operation.operands[0] if operation.operands else None
    if given is None or "logits" not in given.tags or not operation.args or operation.args[0] is not given:
        return False
    name, others = operation.bare_name, operation.args[1:]
    return (name == "round" and not others and not operation.kwargs) or (name in _COMPARISONS and others == (0.5,))


def _layers_of_logits(analysis: Analysis) -> set[int]:
    """The layers whose output is a logit: something makes a probability of it."""
    found: set[int] = set()
    for operation in analysis.trace.operations:
        if operation.bare_name in _SQUASHES and operation.operands:
            layer = _layer(analysis, operation.operands[0])
            found |= {layer.identity} if layer is not None else set()
    return found


def _layer(analysis: Analysis, scores: Tensor) -> LibraryModule | None:
    """The layer that has put out these scores: all of its output, since parts of it may mean something else."""
    made = applied(analysis, scores, LAYERS) if "logits" in scores.tags else None
    picked = applied(analysis, scores, (*LAYERS, *_PICKS))
    return made.module if made is not None and made is picked else None


def _finding(analysis: Analysis, operation: Operation) -> Finding:
    places, layer = layer_places(analysis, operation.operands[0])
    places += call_trail(operation.site.scene, limit=1)
    node = operand_node(operation, 0)
    key = "logits.rounded" if operation.bare_name == "round" else "logits.cut"
    text = message(key, tensor=expression_text(node, "this"), layer=layer)
    return Finding(operation.site.span, text, tuple(places), _as_probabilities(operation, node))


def _as_probabilities(operation: Operation, node: ast.expr | None) -> Iterator[Candidate]:
    """The sigmoid of the scores in their place."""
    if node is not None:
        source = operation.site.source
        title = message("fix.apply", function="sigmoid", tensor=expression_text(node, "the scores"))
        yield Candidate(title, (append(source, node, ".sigmoid()"),))


RULE = Rule(FAULTS[CODE], find)
