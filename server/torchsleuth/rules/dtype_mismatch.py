"""dtype-mismatch: operands of different dtypes where the operator wants one.

What it finds
    float32 against float64, half or integer operands of matmul, Linear, convolutions, recurrent layers.
Why it hurts
    PyTorch stops with "mat1 and mat2 must have the same dtype".
Example
    nn.Linear(4, 2)(torch.zeros(3, 4, dtype=torch.float64))
Use instead
    nn.Linear(4, 2)(x.float())
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    torch.Tensor.to
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS301"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "dtype-mismatch", "error", "dtype and loss", __doc__, find)
