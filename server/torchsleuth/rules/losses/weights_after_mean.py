"""weights-after-mean: weights of the samples, multiplied by a loss that is their mean already.

What it finds
    The mean or the sum of `criterion(x, y) * weights`, where the criterion gives one number for the batch and there is a
    weight for each sample of it. Also a sum or a mean over all of a tensor, without `dim`, that is multiplied with a weight, or
    a mask, for each of its rows. The factor of a focal loss, computed from the mean loss of the batch.
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
from torchsleuth.rules.evidence.operands import lineage
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import keyword_of
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
        product = operation.operands[0] if operation.operands and operation.bare_name in _REDUCTIONS else None
        origin = product.origin if product is not None else None
        if origin is None or origin.bare_name not in _PRODUCTS or len(origin.sources) != 2:
            continue
        for loss, weights in (origin.sources, origin.sources[::-1]):
            if origin.site.span in seen or not _is_one_weight_each(loss, weights):
                continue
            made, whole = _mean_of(loss, weights), _sum_of(analysis, loss, weights)
            if made is not None or whole is not None:
                seen.add(origin.site.span)
            if made is not None:
                yield _finding(analysis, origin, made, weights)
            elif whole is not None:
                yield _summed(origin, whole, weights)
    yield from _focal(analysis)


def _focal(analysis: Analysis) -> Iterator[Finding]:
    """``(1 - exp(-loss)) ** gamma * loss`` of a loss that is one number for the batch."""
    seen: set[Span] = set()
    for power in analysis.trace.operations:
        if power.bare_name not in ("pow", "square") or not power.operands:
            continue
        loss = _probability_of(power.operands[0])
        made = analysis.operation_of(loss) if loss is not None else None
        if loss is None or made is None or made.site.span in seen or not made.specs:
            continue
        shape = made.specs[0].shape
        if shape and shape[0] != 1 and len(made.operands) == 2:
            seen.add(made.site.span)
            site = made.module.site if made.module is not None else made.site
            call = site.call if site is not None else None
            places = (power.site.span.related(message("loss.focal.factor")),)
            fixes = [_unreduced(made, call)] if call is not None else []
            yield Finding(made.site.span, message("loss.focal", loss=loss.bare_name), places, fixes)


def _probability_of(tensor: Tensor) -> Origin | None:
    """The mean loss in ``1 - exp(-loss)``."""
    for name in (("sub", "rsub"), ("exp",), ("neg",)):
        origin = tensor.origin
        if origin is None or origin.bare_name not in name or len(origin.sources) != 1:
            return None
        tensor = origin.sources[0]
    origin = tensor.origin
    return origin if origin is not None and origin.bare_name in _LOSSES and tensor.spec.shape == () else None


def _is_one_weight_each(loss: Tensor, weights: Tensor) -> bool:
    """Whether these may be one number, and weights of several samples that nothing trains."""
    constant = not weights.parameter and weights.spec.requires_grad is False
    return loss.spec.shape == () and bool(weights.spec.shape) and constant


def _sum_of(analysis: Analysis, loss: Tensor, weights: Tensor) -> Operation | None:
    """The sum, or the mean, over all of a tensor that has a row for each weight, and more in each row."""
    sizes = weights.spec.shape or ()
    for tensor, operation in lineage(analysis, loss):
        name = operation.name
        if name in _REDUCTIONS:
            shape = operation.specs[0].shape if len(operation.specs) == 1 else None
            given = len(operation.args) + len(operation.kwargs)
            fits = shape is not None and len(shape) > len(sizes) and sizes[0] != 1
            # The samples are as many for certain, lengths of padded sequences may be.
            equal = [dims.equal(one, other) for one, other in zip(shape or (), sizes)]
            alike = fits and equal[0] is True and False not in equal
            return operation if alike and given == 1 and operation.operands[0].spec.requires_grad is True else None
        if name not in ("mul", "div", "truediv", "neg") or len(operation.operands) != 1 or tensor.spec.shape != ():
            return None
    return None


def _summed(product: Origin, whole: Operation, weights: Tensor) -> Finding:
    """A sum over everything where one over the rows is meant."""
    shape, sizes = whole.specs[0].shape or (), weights.spec.shape or ()
    text = message(
        "loss.weights.whole",
        reduction=whole.name,
        shape=shape_text(whole.specs[0]),
        weights=shape_text(weights.spec),
    )
    source = whole.site.source
    places = (
        product.site.span.related(message("loss.weights.product")),
        *call_trail(whole.site.scene, limit=1),
    )
    left = ", ".join(str(axis) for axis in range(len(sizes) - len(shape), 0))
    argument = f"dim={left}" if "," not in left else f"dim=({left})"
    candidates = []
    if whole.site.call is not None:
        candidates.append(added_argument(source, whole.site.call, argument, safe=False))
    return Finding(whole.site.span, text, places, candidates)


def _mean_of(loss: Tensor, weights: Tensor) -> Origin | None:
    """Where a loss was computed, if it is one number for as many samples as there are weights."""
    origin, sizes = loss.origin, weights.spec.shape
    if origin is None or origin.bare_name not in _LOSSES or not sizes:
        return None
    shapes = [source.spec.shape for source in origin.sources]
    fits = all(shape and dims.equal(shape[0], sizes[0]) is True for shape in shapes) and len(shapes) == 2
    return origin if fits and sizes[0] != 1 else None


def _finding(analysis: Analysis, product: Origin, loss: Origin, weights: Tensor) -> Finding:
    text = message("loss.weights", loss=loss.bare_name, weights=shape_text(weights.spec))
    places = (loss.site.span.related(message("loss.weights.mean")), *call_trail(product.site.scene, limit=1))
    return Finding(product.site.span, text, places, _for_each(analysis, loss))


def _for_each(analysis: Analysis, loss: Origin) -> Iterator[Candidate]:
    """``reduction="none"`` where the loss is made, or called."""
    for operation in analysis.trace.operations:
        if operation.site.span == loss.site.span and operation.bare_name == loss.bare_name:
            site = operation.module.site if operation.module is not None else operation.site
            if site is not None and site.call is not None:
                yield _unreduced(operation, site.call)
            return


def _unreduced(operation: Operation, call: ast.Call) -> Candidate:
    site = (
        operation.module.site if operation.module is not None and operation.module.site is not None else operation.site
    )
    source = site.source
    given = keyword_of(call, "reduction")
    text = 'reduction="none"'
    edit = edits.add_argument(source, call, text) if given is None else edits.replace(source, given, text)
    return Candidate(message("fix.add_argument", argument=text), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)
