"""One page for each code, for hovers, ``torchsleuth rule`` and docs/rules: of rules, and of errors that only a run shows."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from torchsleuth.errors.catalogue import CATALOGUE, OPERATOR_ERROR, SCRIPT_ERROR
from torchsleuth.messages import ENGLISH
from torchsleuth.rules.registry import RULES

_ENTRIES = (*CATALOGUE, OPERATOR_ERROR, SCRIPT_ERROR)


@dataclass(frozen=True)
class Page:
    """`text` has a heading line without indentation above each indented section."""

    code: str
    name: str
    kind: str
    summary: str
    text: str


@cache
def pages() -> dict[str, Page]:
    """Every code's page, in order."""
    found = {rule.code: _rule_page(rule.code) for rule in RULES.values()}
    for entry in _ENTRIES:
        if entry.code not in found:
            found[entry.code] = _run_page(entry.code)
    return dict(sorted(found.items()))


def _rule_page(code: str) -> Page:
    rule = RULES[code]
    first, _, rest = rule.documentation.strip().partition("\n")
    summary = first.removeprefix(f"{rule.name}:").strip()
    return Page(code, rule.name, f"{rule.severity}, {rule.family}", summary, rest.strip("\n"))


def _run_page(code: str) -> Page:
    """The page of an error that has no rule: what its entries in the catalogue say, and a script that raises it."""
    entries = [entry for entry in _ENTRIES if entry.code == code]
    texts = dict.fromkeys(_without_values(entry.text) for entry in entries if isinstance(entry.text, str))
    sections = {"What it says": "\n".join(f"- {text}" for text in texts)}
    example = next((entry.example for entry in entries if entry.example), None)
    if example is not None:
        sections["Example"] = example
    text = "\n".join(f"{heading}\n{textwrap.indent(body, '    ')}" for heading, body in sections.items())
    return Page(code, entries[0].name, "error, seen at run time", "reported by Run and Diagnose.", text)


def _without_values(identifier: str) -> str:
    """A message with dots for the values that only a run knows."""
    return re.sub(r"\{\w+\}", "…", ENGLISH[identifier].replace("{here}", "")).strip()


def markdown(page: Page) -> str:
    lines = [f"# {page.code} {page.name}", "", f"*{page.kind}* · {page.summary}", ""]
    for heading, body in sections(page.text):
        lines += [f"## {heading}", ""]
        lines += (
            ["```python", body, "```", ""] if heading in ("Example", "Use instead") and _is_code(body) else [body, ""]
        )
    return "\n".join(lines)


def index(found: dict[str, Page]) -> str:
    """The table of all codes."""
    rows = [
        f"| [{page.code}]({page.code}.md) | {page.name} | {page.kind} | {page.summary} |" for page in found.values()
    ]
    head = ["# Codes", "", "Written by `make docs` from the rules and the table of run-time errors.", ""]
    return "\n".join([*head, "| code | name | kind | finds |", "| --- | --- | --- | --- |", *rows, ""])


def files() -> dict[str, str]:
    """The texts of docs/rules by file name."""
    found = pages()
    return {"README.md": index(found), **{f"{code}.md": markdown(page) for code, page in found.items()}}


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
