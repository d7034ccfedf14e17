"""dim-out-of-range: a dim argument beyond the rank.

What it finds
    softmax, sum, transpose and others with a dimension that the tensor does not have.
Why it hurts
    PyTorch stops with "Dimension out of range".
Example
    torch.randn(8).softmax(dim=1)
Use instead
    torch.randn(8).softmax(dim=-1)
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    torch.Tensor.dim
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS107"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "dim-out-of-range", "error", "shape", __doc__, find)
