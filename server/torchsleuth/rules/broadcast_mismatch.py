"""broadcast-mismatch: element-wise operands whose sizes do not broadcast.

What it finds
    Operators such as +, *, where and masked_fill on tensors whose sizes, aligned from the right, are neither equal nor 1.
Why it hurts
    PyTorch stops with "The size of tensor a (96) must match the size of tensor b (48)".
Example
    torch.randn(8, 96) + torch.randn(8, 48)
Use instead
    sizes that agree, or a dimension of size 1 made with unsqueeze
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    Broadcasting semantics in the PyTorch notes
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS103"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "broadcast-mismatch", "error", "shape", __doc__, find)
