"""cat-mismatch: concatenation of tensors that differ in more than one size.

What it finds
    cat, stack, hstack and the like on tensors whose other sizes differ.
Why it hurts
    PyTorch stops with "Sizes of tensors must match except in dimension 1".
Example
    torch.cat([torch.randn(2, 3), torch.randn(4, 5)], dim=1)
Use instead
    tensors that agree in every other dimension
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    torch.cat, torch.stack
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS106"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "cat-mismatch", "error", "shape", __doc__, find)
