"""sign-labels: a loss for targets of 1 and -1 gets targets of 1 and 0.

What it finds
    CosineEmbeddingLoss, MarginRankingLoss, HingeEmbeddingLoss, SoftMarginLoss and their functions with targets that are 0
    and 1: integers drawn from that range, or the result of a comparison.
Why it hurts
    The target is a sign. A target of 0 is neither: the loss of such a pair is a constant, so that nothing is learnt from
    it, and no error is raised.
Example
    loss = nn.MarginRankingLoss()(a, b, (x > y).float())
Use instead
    loss = nn.MarginRankingLoss()(a, b, 2 * (x > y).float() - 1)
Fix safety
    Safe: 0 becomes -1, and 1 stays 1.
References
    torch.nn.CosineEmbeddingLoss, torch.nn.MarginRankingLoss, torch.nn.HingeEmbeddingLoss, torch.nn.SoftMarginLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.marks import KEPT_BY, held
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, operand, replaced, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.values import Tensor, Within

CODE = "TS315"
_PLACES = {
    "CosineEmbeddingLoss": 2,
    "cosine_embedding_loss": 2,
    "MarginRankingLoss": 2,
    "margin_ranking_loss": 2,
    "HingeEmbeddingLoss": 1,
    "hinge_embedding_loss": 1,
    "SoftMarginLoss": 1,
    "soft_margin_loss": 1,
}
"""The losses, and where the target stands among their arguments."""
_COMPARISONS = frozenset("gt ge lt le eq ne isin logical_and logical_or logical_not logical_xor greater less".split())
_MAX_STEPS = 12


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        name = operation.name
        if name not in _PLACES or not operation.target.startswith("torch.nn.") or operation.site.span in seen:
            continue
        target = operand(operation, _PLACES[name], "target")
        if target is not None and _is_zero_or_one(target.tensor):
            seen.add(operation.site.span)
            yield _finding(operation, target, name)


def _is_zero_or_one(tensor: Tensor) -> bool:
    """Whether the values of a tensor are 0 and 1, whatever dtype they have been given."""
    for _ in range(_MAX_STEPS):
        around, origin = held(tensor), tensor.origin
        if tensor.spec.dtype == "bool":
            return True
        if around is not None:
            return (around.low, around.high) == (0, 1)
        name = origin.bare_name if origin is not None else ""
        if name in _COMPARISONS or Within(0, 1) in tensor.tags:
            return True
        if origin is None or name not in KEPT_BY or not origin.sources:
            return False
        tensor = origin.sources[0]
    return False


def _finding(operation: Operation, target: Operand, name: str) -> Finding:
    text = message("loss.signs", target=target.text("the target"), loss=name)
    return Finding(
        operation.site.span,
        text,
        tuple(call_trail(operation.site.scene, limit=1)),
        _signed(target),
    )


def _signed(target: Operand) -> Iterator[Candidate]:
    if target.node is None:
        return
    text = written(target.site.source, target.node)
    number = f"{text}.float()" if target.spec.dtype == "bool" else text
    yield replaced(target.site, target.node, f"2 * {number} - 1")


RULE = Rule(FAULTS[CODE], find)
