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
from dataclasses import replace

from torchsleuth.rules.operators import generic
from torchsleuth.rules.returns import returned
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS199"


def find(analysis: Analysis) -> Iterator[Finding]:
    for finding in generic(analysis, CODE):
        forgotten = returned(analysis, finding.at.path) if "NoneType" in finding.message else ()
        yield replace(finding, candidates=(*finding.candidates, *forgotten))


RULE = Rule(CODE, "operator-error", "error", "shape", __doc__, find)
