"""attention-size-mismatch: sizes of attention that do not fit.

What it finds
    embed_dim that num_heads does not divide, masks and projections of the wrong size.
Why it hurts
    PyTorch stops while the layer is built or in its forward.
Example
    nn.MultiheadAttention(65, 4)
Use instead
    nn.MultiheadAttention(64, 4)
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    torch.nn.MultiheadAttention
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS111"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "attention-size-mismatch", "error", "shape", __doc__, find)
