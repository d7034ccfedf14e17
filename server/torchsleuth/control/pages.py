"""One page for each fault, for hovers, ``torchsleuth rule`` and docs/rules."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from torchsleuth.faults import FAULTS, Fault


def kind(fault: Fault) -> str:
    return f"{fault.severity}, {fault.family.name}"


def markdown(fault: Fault) -> str:
    lines = [f"# {fault.code} {fault.name}", "", f"*{kind(fault)}* · {fault.title}", ""]
    for heading, body in sections(fault.explanation):
        lines += [f"## {heading}", ""]
        lines += (
            ["```python", body, "```", ""] if heading in ("Example", "Use instead") and _is_code(body) else [body, ""]
        )
    return "\n".join(lines)


def index() -> str:
    """The table of all faults."""
    rows = [f"| [{code}]({code}.md) | {fault.name} | {kind(fault)} | {fault.title} |" for code, fault in FAULTS.items()]
    head = ["# Codes", "", "Written by `make docs` from the catalogue of faults.", ""]
    return "\n".join([*head, "| code | name | kind | finds |", "| --- | --- | --- | --- |", *rows, ""])


def files() -> dict[str, str]:
    """The texts of docs/rules by file name."""
    return {"README.md": index(), **{f"{code}.md": markdown(fault) for code, fault in FAULTS.items()}}


def sections(text: str) -> Iterator[tuple[str, str]]:
    heading = ""
    body: list[str] = []
    for line in [*text.splitlines(), "end"]:
        if line and not line[0].isspace():
            if heading:
                yield heading, textwrap.dedent("\n".join(body)).strip("\n")
            heading, body = line.strip(), []
        else:
            body.append(line)


def _is_code(body: str) -> bool:
    try:
        ast.parse(body)
    except SyntaxError:
        return False
    return True
