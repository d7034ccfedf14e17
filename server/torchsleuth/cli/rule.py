"""``torchsleuth rule CODE``: what a code means."""

from __future__ import annotations

from torchsleuth.cli.output import complain, lines
from torchsleuth.control.pages import kind
from torchsleuth.faults import FAULTS
from torchsleuth.messages import message


def rule(code: str) -> int:
    fault = FAULTS.get(code.upper())
    if fault is None:
        complain(message("cli.no_rule", code=code, known=", ".join(FAULTS)))
        return 2
    lines(f"{fault.code} {fault.name} ({kind(fault)}): {fault.title}\n\n{fault.explanation}")
    return 0
