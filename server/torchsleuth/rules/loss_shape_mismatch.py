"""loss-shape-mismatch: prediction and target that the loss cannot compare.

What it finds
    Losses whose prediction and target differ in batch size, class dimension or layout.
Why it hurts
    PyTorch stops with "Expected input batch_size (5) to match target batch_size (60)".
Example
    F.cross_entropy(torch.randn(8, 20, 5), torch.randint(0, 5, (8, 20)))
Use instead
    F.cross_entropy(logits.transpose(1, 2), target)
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS113"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "loss-shape-mismatch", "error", "shape", __doc__, find)
