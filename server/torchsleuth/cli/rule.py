"""``torchsleuth rule CODE``: what a code means."""

from __future__ import annotations

from torchsleuth.cli.output import complain, lines
from torchsleuth.control.pages import pages
from torchsleuth.messages import message


def rule(code: str) -> int:
    known = pages()
    page = known.get(code.upper())
    if page is None:
        complain(message("cli.no_rule", code=code, known=", ".join(known)))
        return 2
    lines(f"{page.code} {page.name} ({page.kind}): {page.summary}\n\n{page.text}")
    return 0
