"""``torchsleuth rule CODE``: the documentation of a rule."""

from __future__ import annotations

from torchsleuth.cli.files import complain
from torchsleuth.rules.registry import RULES


def rule(code: str) -> int:
    found = RULES.get(code.upper())
    if found is None:
        complain(f"there is no rule {code}; known: {', '.join(RULES)}")
        return 2
    print(f"{found.code} {found.name} ({found.severity}, {found.family})\n")
    print(found.documentation.strip())
    return 0
