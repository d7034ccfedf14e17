"""root-of-zero: the square root of distances of vectors to themselves, whose gradient is not a number.

What it finds
    `sqrt` of squared differences, or squared lengths and products, of a batch of vectors with itself, in a graph that something goes
    backward through, with nothing added to it and no bound above 0.
Why it hurts
    Each vector is at distance 0 from itself, and the slope of the root at 0 is infinite. Times the 0 of a mask, or of the difference
    itself, that is NaN: after one step all weights are. The loss itself is finite.
Example
    difference = x[:, None] - x[None]
    distance = difference.pow(2).sum(-1).sqrt()
Use instead
    difference = x[:, None] - x[None]
    distance = difference.pow(2).sum(-1).clamp(min=1e-12).sqrt()
Fix safety
    Safe: distances that are not 0 stay what they are.
References
    torch.cdist, whose gradient is 0 there; torch.autograd.detect_anomaly
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import appended, behind, lineage, operands
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.values import Tensor

CODE = "TS418"
_SQUARING = frozenset("pow square mul".split())
_BETWEEN = frozenset("sum contiguous float".split())
_BOUNDS = frozenset("clamp clamp_min relu maximum".split())
_PRODUCTS = frozenset("matmul mm".split())
_SHAPED = frozenset("unsqueeze view reshape getitem expand transpose t T mT repeat".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for root in analysis.trace.operations:
        if root.name not in ("sqrt", "sqrt_") or root.site.span in seen or not root.operands:
            continue
        squares = root.operands[0]
        if squares.spec.requires_grad is not True or not _goes_backward(analysis, root):
            continue
        vectors = _of_itself(analysis, squares)
        if vectors is not None:
            seen.add(root.site.span)
            text = message("root.zero", squares=operands(root)[0].text("this"))
            yield Finding(root.site.span, text, tuple(call_trail(root.site.scene, limit=1)), tuple(_bounded(root)))


def _goes_backward(analysis: Analysis, root: Operation) -> bool:
    """Whether a backward() reaches a root, or may: nothing in sight calls one."""
    events = analysis.events("backward")
    reached = (node.site.span for event in events if event.node is not None for node in event.node.reachable())
    return not events or any(event.node is None for event in events) or root.site.span in set(reached)


def _of_itself(analysis: Analysis, squares: Tensor) -> Tensor | None:
    """The vectors of which each meets itself, if these are the squares of their distances."""
    squared = False
    for _, operation in lineage(analysis, squares):
        name = operation.bare_name
        if name in _SQUARING and (name != "pow" or operation.given(1, "exponent") == 2):
            squared = True
        elif name == "sub" and squared and len(operation.operands) == 2:
            one, other = (behind(analysis, part, _SHAPED) for part in operation.operands)
            apart = all(part.spec.rank == 3 for part in operation.operands)
            return one if one is other and apart and operation.operands[0] is not operation.operands[1] else None
        elif name in _BOUNDS:
            least = operation.given(1, "min", operation.given(1, "other", 0)) if name != "relu" else 0
            if least != 0:
                return None
        elif name not in _BETWEEN:
            return None
    return None


def _bounded(root: Operation) -> Iterator[Candidate]:
    """``….clamp(min=1e-12)`` in front of the root."""
    node = root.site.node
    squares = node.func.value if is_method_call(node, "sqrt") else None
    if squares is None and isinstance(node, ast.Call) and len(node.args) == 1:
        squares = node.args[0]
    if squares is not None:
        yield appended(root.site, squares, ".clamp(min=1e-12)")


RULE = Rule(FAULTS[CODE], find)
