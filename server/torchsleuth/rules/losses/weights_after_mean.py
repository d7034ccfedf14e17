"""weights-after-mean: weights of the samples, multiplied by a loss that is their mean already.

What it finds
    The mean or the sum of `criterion(x, y) * weights`, where the criterion gives one number for the batch and there is a
    weight for each sample of it.
Why it hurts
    All weights are multiplied by the same number: the loss is scaled by their mean, and no sample counts more than another.
    Nothing is raised.
Example
    loss = nn.functional.cross_entropy(model(x), y)
    loss = (loss * weights).mean()
Use instead
    loss = nn.functional.cross_entropy(model(x), y, reduction="none")
    loss = (loss * weights).mean()
Fix safety
    Unsafe: the weights begin to count, and whatever else uses the criterion gets a loss for each sample.
References
    torch.nn.CrossEntropyLoss, `reduction`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail, shape_text
from torchsleuth.rules.evidence.operands import source_at
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, related
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.tensors import dims
from torchsleuth.values import Origin, Tensor

CODE = "TS317"
_PRODUCTS = frozenset({"mul", "multiply", "imul"})
_REDUCTIONS = frozenset({"mean", "sum"})
_LOSSES = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits CrossEntropyLoss NLLLoss MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss "
    "BCEWithLogitsLoss".split()
)


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        product = operation.operands[0] if operation.operands and _name(operation.target) in _REDUCTIONS else None
        origin = product.origin if product is not None else None
        if origin is None or _name(origin.operator) not in _PRODUCTS or len(origin.sources) != 2:
            continue
        for loss, weights in (origin.sources, origin.sources[::-1]):
            made = _mean_of(loss, weights)
            if made is not None and origin.site.span not in seen:
                seen.add(origin.site.span)
                yield _finding(analysis, origin, made, weights)


def _name(operator: str) -> str:
    return operator.rpartition(".")[2].strip("_")


def _mean_of(loss: Tensor, weights: Tensor) -> Origin | None:
    """Where a loss was computed, if it is one number for as many samples as there are weights."""
    origin, sizes = loss.origin, weights.spec.shape
    if origin is None or _name(origin.operator) not in _LOSSES or loss.spec.shape != ():
        return None
    if not sizes or weights.parameter or weights.spec.requires_grad is not False:
        return None
    shapes = [source.spec.shape for source in origin.sources]
    fits = all(shape and dims.equal(shape[0], sizes[0]) is True for shape in shapes) and len(shapes) == 2
    return origin if fits and sizes[0] != 1 else None


def _finding(analysis: Analysis, product: Origin, loss: Origin, weights: Tensor) -> Finding:
    text = message("loss.weights", loss=_name(loss.operator), weights=shape_text(weights.spec))
    source = analysis.source_of(loss.site.span.path)
    places = (related(source, loss.site.node, message("loss.weights.mean")), *call_trail(product.site.scene, limit=1))
    return Finding(product.site.span, text, places, _for_each(analysis, loss))


def _for_each(analysis: Analysis, loss: Origin) -> Iterator[Candidate]:
    """``reduction="none"`` where the loss is made, or called."""
    for operation in analysis.trace.operations:
        if operation.site.span == loss.site.span and _name(operation.target) == _name(loss.operator):
            site = operation.module.site if operation.module is not None else operation.site
            if site is not None and site.call is not None:
                yield _unreduced(analysis, operation, site.call)
            return


def _unreduced(analysis: Analysis, operation: Operation, call: ast.Call) -> Candidate:
    site = (
        operation.module.site if operation.module is not None and operation.module.site is not None else operation.site
    )
    source = source_at(analysis, site)
    given = next((part for part in call.keywords if part.arg == "reduction"), None)
    text = 'reduction="none"'
    edit = edits.add_argument(source, call, text) if given is None else edits.replace(source, given, text)
    return Candidate(message("fix.add_argument", argument=text), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)
