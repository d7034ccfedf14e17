"""least-is-masked: the smallest of distances of which those that do not count were set to 0.

What it finds
    `min`, `amin` or `argmin` of distances, or of other values that are never negative, that were multiplied with a mask of ones and
    zeros, or set to 0 by masked_fill, just before.
Why it hurts
    What is masked is 0, and nothing is smaller: the result is 0, or a place that was to be left out. The hardest negative of a triplet
    loss is then at distance 0 whatever the model does. Nothing is raised.
Example
    nearest = (torch.cdist(x, x) * (labels[:, None] != labels)).min(1).values
Use instead
    nearest = torch.cdist(x, x).masked_fill(labels[:, None] == labels, float("inf")).min(1).values
Fix safety
    Safe where something is left in each row.
References
    Hermans et al. 2017, "In Defense of the Triplet Loss"; torch.Tensor.masked_fill
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.masks import holds_ones
from torchsleuth.rules.evidence.operands import made_by, operands, replaced, steps
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import argument_of, is_primary, literal
from torchsleuth.values import Tensor

CODE = "TS358"
_LEAST = frozenset("min amin argmin".split())
_MASKING = ("masked_fill", "masked_fill_", "mul", "mul_", "imul")
_BETWEEN = frozenset("float to contiguous".split())
_NEVER_NEGATIVE = frozenset(
    "cdist pairwise_distance PairwiseDistance abs square sqrt norm vector_norm relu exp softplus sigmoid softmax".split()
)
_KEEPING = frozenset(
    "view reshape squeeze unsqueeze float to detach clone contiguous getitem transpose permute t".split()
)


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for least in analysis.trace.operations:
        if least.name not in _LEAST or len(least.operands) != 1:
            continue
        masked = made_by(analysis, least.operands[0], _MASKING, _BETWEEN)
        values = _zeroed(analysis, masked) if masked is not None else None
        if masked is None or values is None or masked.site.span in seen:
            continue
        seen.add(masked.site.span)
        places = (least.site.span.related(message("least.masked.taken")), *call_trail(masked.site.scene, limit=1))
        shown = next((one.text("the values") for one in operands(masked) if one.tensor is values), "the values")
        text = message("least.masked", values=shown, function=least.name)
        yield Finding(masked.site.span, text, places, tuple(_infinite(analysis, masked, values)))


def _zeroed(analysis: Analysis, masked: Operation) -> Tensor | None:
    """The values that are never negative, and that an operation sets to 0 where a mask says so."""
    values = next((one for one in masked.operands[:2] if _is_never_negative(one)), None)
    if values is None:
        return None
    if masked.name.startswith("masked_fill"):
        value = masked.given(2, "value")
        return values if value == 0 and masked.operands[0] is values else None
    mask = next((one for one in masked.operands if one is not values), None)
    return values if mask is not None and holds_ones(analysis, mask) else None


def _is_never_negative(tensor: Tensor) -> bool:
    for _, origin in steps(tensor):
        if origin.bare_name in _NEVER_NEGATIVE:
            return True
        if origin.bare_name not in _KEEPING:
            return False
    return False


def _infinite(analysis: Analysis, masked: Operation, values: Tensor) -> Iterator[Candidate]:
    """``d.masked_fill(mask, 0)`` → ``d.masked_fill(mask, float("inf"))``, ``d * mask`` → ``d.masked_fill(~mask, float("inf"))``."""
    call, source, node = masked.site.call, masked.site.source, masked.site.node
    value = argument_of(call, 1, "value") if call is not None else None
    if value is not None and literal(value) == 0:
        yield replaced(masked.site, value, 'float("inf")')
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        kept, mask = (node.left, node.right) if masked.operands[0] is values else (node.right, node.left)
        other = next(one for one in masked.operands if one is not values)
        if isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert):
            out = source.segment(mask.operand)
        else:
            text = source.segment(mask) if is_primary(mask) else f"({source.segment(mask)})"
            out = f"~{text}" if other.spec.dtype == "bool" else f"{text} == 0"
        if is_primary(kept):
            yield replaced(masked.site, node, f'{source.segment(kept)}.masked_fill({out}, float("inf"))')


RULE = Rule(FAULTS[CODE], find)
