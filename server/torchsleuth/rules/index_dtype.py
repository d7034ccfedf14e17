"""index-dtype: indices that are not integers.

What it finds
    Embedding, gather, one_hot and indexing with floating point indices.
Why it hurts
    PyTorch stops with "tensors used as indices must be long, int, byte or bool tensors".
Example
    nn.Embedding(10, 4)(torch.zeros(3))
Use instead
    nn.Embedding(10, 4)(torch.zeros(3).long())
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    torch.nn.Embedding
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS309"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "index-dtype", "error", "dtype and loss", __doc__, find)
