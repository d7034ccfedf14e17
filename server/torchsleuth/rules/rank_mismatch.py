"""rank-mismatch: the wrong number of dimensions.

What it finds
    Layers, indices and permutations that want another rank than the tensor has.
Why it hurts
    PyTorch stops with "Expected 3D (unbatched) or 4D (batched) input" or "too many indices".
Example
    nn.Conv2d(3, 8, 3)(torch.randn(32, 32))
Use instead
    an input with channel and batch dimensions, made with unsqueeze
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    torch.Tensor.unsqueeze
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS108"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "rank-mismatch", "error", "shape", __doc__, find)
