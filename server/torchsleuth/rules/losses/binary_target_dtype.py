"""binary-target-dtype: integer targets for binary cross entropy.

What it finds
    Targets of BCELoss, BCEWithLogitsLoss or their functions that are not floating point.
Why it hurts
    PyTorch stops with "result type Float can't be cast to the desired output type Long": the loss multiplies by the
    target.
Example
    F.binary_cross_entropy_with_logits(logits, labels)
Use instead
    F.binary_cross_entropy_with_logits(logits, labels.float())
Fix safety
    Safe: the values stay the same, in the dtype that the loss wants.
References
    torch.nn.BCEWithLogitsLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.casts import casts, unconverted
from torchsleuth.rules.evidence.operands import Operand, operand, suffixed
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule

CODE = "TS307"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        operation = failure.operation
        target = operand(operation, 1, "target")
        if target is None:
            yield plain
            continue
        text = message(
            "target.binary",
            target=target.described("the target"),
            dtype=target.spec.dtype,
            loss=operation.name,
        )
        yield Finding(operation.site.span, text, trail(analysis, failure), _candidates(analysis, target))


def _candidates(analysis: Analysis, target: Operand) -> Iterator[Candidate]:
    yield from unconverted(target)
    yield from suffixed(target, ".float()")
    yield from casts(analysis, target, "float32")


RULE = Rule(FAULTS[CODE], find)
