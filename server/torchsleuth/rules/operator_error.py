"""operator-error: an operator that PyTorch refuses.

What it finds
    Any other error that the installed PyTorch raises for these shapes, dtypes and arguments.
Why it hurts
    The script stops at this line.
Example
    torch.eye(3)[5]
Use instead
    an index that exists
Fix safety
    No fix is offered: which of the operands is meant is not evident.
References
    the documentation of the operator
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.rules.operators import generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS199"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from generic(analysis, CODE)


RULE = Rule(CODE, "operator-error", "error", "shape", __doc__, find)
