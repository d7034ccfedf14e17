"""nan-masked-too-late: targets that are not a number are left out of the loss after it was computed from them.

What it finds
    A mask of `torch.isnan(target)`, with which the elements of a loss are chosen that was computed from this very target and from
    something that requires grad: `losses[mask]`, `torch.where(mask, losses, 0)`, `losses.masked_fill(…)`, `losses * mask`.
Why it hurts
    The gradient that reaches the elements that are left out is 0, and 0 times NaN is NaN: after one step all weights are. The
    loss itself is finite, in the first step.
Example
    measured = ~torch.isnan(target)
    losses = F.mse_loss(model(x), target, reduction="none")
    loss = losses[measured].mean()
Use instead
    measured = ~torch.isnan(target)
    losses = F.mse_loss(model(x), target.nan_to_num(), reduction="none")
    loss = losses[measured].mean()
Fix safety
    Safe: elements that are left out do not count, whatever number stands in them.
References
    torch.where, torch.nan_to_num; torch.autograd.detect_anomaly
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, lineage, operands, steps, suffixed
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.values import Tensor, tuple_of

CODE = "TS422"
_TESTS = frozenset("isnan isfinite".split())
_FOLLOWED = frozenset("nonzero invert bitwise_not logical_not __invert__ float bool unsqueeze squeeze".split())
_CHOOSING = frozenset("getitem where masked_select masked_fill mul".split())
_ELEMENTWISE = frozenset("mul div truediv neg float sum mean".split())
"""Operators between a loss and the choice of its elements that pass NaN on."""
_CURVED = frozenset(
    "binary_cross_entropy_with_logits BCEWithLogitsLoss mse_loss MSELoss smooth_l1_loss SmoothL1Loss huber_loss HuberLoss "
    "soft_margin_loss SoftMarginLoss poisson_nll_loss PoissonNLLLoss pow square".split()
)
"""Functions of two tensors whose slope depends on the second one; and powers, of a difference of two."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        if operation.bare_name not in _CHOOSING:
            continue
        for target in _left_out(operation):
            loss = _loss_of(analysis, operation, target)
            if loss is not None and loss.site.span not in seen:
                seen.add(loss.site.span)
                yield _finding(operation, loss)


def _left_out(operation: Operation) -> Iterator[Tensor]:
    """The tensors whose elements that are NaN an operation leaves out."""
    given = [part for value in operation.args for part in tuple_of(value) if isinstance(part, Tensor)]
    for mask in given:
        for _, origin in steps(mask):
            name = origin.operator.rpartition(".")[2]
            if name in _TESTS and origin.sources:
                yield origin.sources[0]
            if name not in _FOLLOWED:
                break


def _loss_of(analysis: Analysis, choice: Operation, target: Tensor) -> Operand | None:
    """The target, as the operand of the loss of which elements are chosen."""
    if target.spec.requires_grad is not False:
        return None
    for losses in choice.operands:
        for current, operation in lineage(analysis, losses):
            name = operation.bare_name
            if name in _CURVED and current.spec.requires_grad:
                difference = operation if len(operation.operands) > 1 else _difference(analysis, operation)
                return next(_operands_of(difference, target), None)
            if name not in _ELEMENTWISE:
                break
    return None


def _difference(analysis: Analysis, power: Operation) -> Operation | None:
    """The subtraction whose result is raised to a power."""
    below = next((operation for _, operation in lineage(analysis, power.operands[0])), None) if power.operands else None
    return below if below is not None and below.bare_name == "sub" else None


def _operands_of(operation: Operation | None, target: Tensor) -> Iterator[Operand]:
    for one in operands(operation) if operation is not None else ():
        if one.tensor is target:
            yield one


def _finding(choice: Operation, used: Operand) -> Finding:
    text = message("nan.late", target=used.text("the target"))
    places = (choice.site.span.related(message("nan.late.chosen")), *call_trail(choice.site.scene, limit=1))
    return Finding(used.site.span, text, places, tuple(suffixed(used, ".nan_to_num()")))


RULE = Rule(FAULTS[CODE], find)
