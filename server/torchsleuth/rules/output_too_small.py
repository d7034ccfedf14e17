"""output-too-small: a convolution or pooling that leaves nothing.

What it finds
    Kernels larger than the padded input, pools on feature maps that are too small.
Why it hurts
    PyTorch stops with "Kernel size can't be greater than actual input size".
Example
    nn.MaxPool2d(4)(torch.randn(1, 8, 2, 2))
Use instead
    one pool less, or padding
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    torch.nn.Conv2d, torch.nn.MaxPool2d
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS112"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "output-too-small", "error", "shape", __doc__, find)
