"""Log-probabilities of a normal distribution that were not summed over its dimensions, and meet one number for each sample."""

from __future__ import annotations

from torchsleuth.interp.trace import Operation
from torchsleuth.rules.evidence.operands import Operand, operands
from torchsleuth.rules.evidence.squares import ELEMENTWISE, LOSSES, MEETINGS, WHOLE, Uses
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import as_kind
from torchsleuth.synthesis.shapes import same_shape
from torchsleuth.values import Tensor

_EACH = frozenset("Normal LogNormal Laplace Cauchy StudentT Gumbel Uniform Beta Bernoulli".split())
"""Distributions of single numbers: the log-probability of a vector has one entry for each of its dimensions."""
_ADDED = frozenset("add sub iadd isub minimum maximum min max".split())
_MAX_STEPS = 40


def unsummed(analysis: Analysis, uses: Uses, operation: Operation) -> tuple[Operand, Operand, Operation] | None:
    """The log-probabilities (…, A), what they meet (…, 1), and the call that gave them, where the result is averaged."""
    name = operation.bare_name
    if name not in MEETINGS or len(operation.specs) != 2 or len(operation.tensors) != 2:
        return None
    for wide, column in (operands(operation)[:2], operands(operation)[:2][::-1]):
        if wide.spec.shape is None or column.spec.shape is None or not _are_apart(wide, column):
            continue
        made, ratio = _log_prob(analysis, wide.tensor)
        if made is None or (name not in _ADDED and not ratio) or _log_prob(analysis, column.tensor)[0] is not None:
            continue
        if _comes_from(column.tensor, made) or not _is_averaged(uses, operation):
            continue
        return wide, column, made
    return None


def _are_apart(wide: Operand, column: Operand) -> bool:
    """(…, A) against (…, 1)"""
    size = as_kind(wide.shape[-1] if wide.shape else 1, int)
    if len(wide.shape) < 2 or size is None or size < 2 or len(column.shape) != len(wide.shape):
        return False
    return column.shape[-1] == 1 and same_shape(wide.shape[:-1], column.shape[:-1])


def _log_prob(analysis: Analysis, tensor: Tensor) -> tuple[Operation | None, bool]:
    """The call of log_prob() that a tensor was computed from, one element from one; and whether it is the exponential of that."""
    pending, seen, ratio = [tensor], set[int](), False
    for _ in range(_MAX_STEPS):
        if not pending:
            break
        current = pending.pop()
        origin = current.origin
        if origin is None or id(origin) in seen or current.spec.shape is None:
            continue
        seen.add(id(origin))
        name = origin.bare_name
        if name == "log_prob":
            call = analysis.operation_of(origin)
            single = origin.operator.split(".")[-2] in _EACH
            return (call if single and same_shape(current.spec.shape, tensor.spec.shape or ()) else None), ratio
        ratio = ratio or name == "exp"
        if name in ELEMENTWISE:
            pending += [source for source in origin.sources if source.spec.shape == current.spec.shape]
    return None, False


def _comes_from(tensor: Tensor, made: Operation) -> bool:
    """Whether a tensor was computed from these log-probabilities, such as their sum."""
    pending, seen = [tensor], set[int]()
    for _ in range(_MAX_STEPS):
        if not pending:
            return False
        origin = pending.pop().origin
        if origin is None or id(origin) in seen:
            continue
        seen.add(id(origin))
        if origin.site is made.site:
            return True
        pending += origin.sources
    return True


def _is_averaged(uses: Uses, operation: Operation) -> bool:
    """Whether the result is only computed with element by element until all of it becomes one number."""
    pending, seen, ends = [operation], {id(operation)}, 0
    for _ in range(_MAX_STEPS):
        if not pending:
            return ends > 0
        for use in uses.of(pending.pop()):
            if id(use) in seen:
                continue
            seen.add(id(use))
            name = use.bare_name
            if name in LOSSES or (name in WHOLE and len(use.args) == 1 and not use.kwargs):
                ends += 1
            elif name in ELEMENTWISE:
                pending.append(use)
            else:
                return False
    return False
