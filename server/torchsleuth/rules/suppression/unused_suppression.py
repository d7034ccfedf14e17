"""unused-suppression: a comment silences a finding that is not there.

What it finds
    A `# torchsleuth: ignore[…]` or `# noqa: TS…` that silences nothing, or that names a code which is not found where
    it stands. Off unless it is selected, as with `extend-select = ["TS001"]`.
Why it hurts
    The next mistake on that line is silenced before anyone has seen it.
Example
    x = torch.zeros(2, 3)  # torchsleuth: ignore[TS101]
Use instead
    x = torch.zeros(2, 3)
Fix safety
    Safe: only the comment is changed.
References
    torchsleuth check --extend-select TS001
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS001"


def find(analysis: Analysis) -> Iterator[Finding]:
    """Nothing: what a comment silences is known when all rules have been asked (`control/suppression.py`)."""
    return iter(())


RULE = Rule(FAULTS[CODE], find)
