"""masked-with-zero: scores are set to 0 before their softmax, which leaves them a weight.

What it finds
    The softmax of scores of an attention in which padding, or what comes later, was set to 0 just before, by masked_fill or by
    a product with the mask, or to next to nothing (-1e-9); where the weights are then multiplied with the values as they are.
Why it hurts
    exp(0) is 1, which is more than what a negative score has: what was to be masked gets a weight, and the model attends to
    padding or reads the future. Nothing is raised.
Example
    scores = scores.masked_fill(mask == 0, 0)
    out = scores.softmax(-1) @ values
Use instead
    scores = scores.masked_fill(mask == 0, float("-inf"))
    out = scores.softmax(-1) @ values
Fix safety
    Safe where one position of each row is left: softmax of nothing but minus infinity is not a number.
References
    "Attention Is All You Need", section 3.2.3; torch.nn.functional.scaled_dot_product_attention
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.masks import holds_ones
from torchsleuth.rules.evidence.operands import lineage, made_by, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import argument_of, is_reference
from torchsleuth.values import Tensor

CODE = "TS332"
_SOFTMAX = ("softmax", "softmax_", "Softmax")
_MASKING = ("masked_fill", "masked_fill_", "mul", "mul_")
_PRODUCTS = frozenset("matmul bmm einsum".split())
_SMALL = 1e-3
"""Numbers below this are 0 beside scores: ``-1e-9``, where ``-1e9`` was meant."""
_BETWEEN = frozenset("dropout Dropout to float contiguous type_as".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for product in analysis.trace.operations:
        if product.name in _PRODUCTS and len(product.operands) == 2:
            softmax = made_by(analysis, product.operands[0], _SOFTMAX, _BETWEEN)
            masked = (
                made_by(analysis, softmax.operands[0], _MASKING, _BETWEEN)
                if softmax is not None and softmax.operands
                else None
            )
            if softmax is not None and masked is not None and _to_zero(analysis, masked):
                if masked.site.span not in seen:
                    seen.add(masked.site.span)
                    yield _finding(analysis, masked, softmax)


def _to_zero(analysis: Analysis, masked: Operation) -> bool:
    """Whether scores that a product gave are set to zero where a mask says so."""
    scores = _scores(analysis, masked)
    if scores is None:
        return False
    if masked.name.startswith("masked_fill"):
        value = masked.given(2, "value")
        number = as_kind(value, int, float)
        return number is not None and abs(number) < _SMALL and not isinstance(value, bool)
    mask = next((one for one in masked.operands if one is not scores), None)
    return mask is not None and holds_ones(analysis, mask)


def _scores(analysis: Analysis, masked: Operation) -> Tensor | None:
    """The operand that is the product of queries and keys, scaled or not."""
    for given in masked.operands[:2]:
        for _, operation in lineage(analysis, given):
            name = operation.name
            if name in _PRODUCTS:
                return given
            if name not in (*_BETWEEN, "mul", "div", "truediv") or len(operation.operands) > 1:
                break
    return None


def _finding(analysis: Analysis, masked: Operation, softmax: Operation) -> Finding:
    places = (
        softmax.site.span.related(message("masked.zero.softmax")),
        *call_trail(masked.site.scene, limit=1),
    )
    value = argument_of(masked.site.call, 1, "value") if masked.site.call is not None else None
    given = masked.site.source.segment(value) if value is not None else "0"
    return Finding(masked.site.span, message("masked.zero", given=given), places, tuple(_infinite(analysis, masked)))


def _infinite(analysis: Analysis, masked: Operation) -> Iterator[Candidate]:
    """``masked_fill(mask, 0)`` → ``masked_fill(mask, float("-inf"))``, ``scores * mask`` → ``scores.masked_fill(mask == 0, …)``."""
    call, source = masked.site.call, masked.site.source
    value = argument_of(call, 1, "value") if call is not None else None
    if value is not None and masked.name.startswith("masked_fill"):
        yield replaced(masked.site, value, 'float("-inf")')
    elif isinstance(masked.site.node, ast.BinOp):
        left, right = masked.site.node.left, masked.site.node.right
        scores, mask = (left, right) if masked.operands[0] is _scores(analysis, masked) else (right, left)
        made = f'{source.segment(scores)}.masked_fill({source.segment(mask)} == 0, float("-inf"))'
        if is_reference(scores) and is_reference(mask):
            yield replaced(masked.site, masked.site.node, made)


RULE = Rule(FAULTS[CODE], find)
