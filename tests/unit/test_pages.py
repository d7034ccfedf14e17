"""The pages of docs/rules are those of the rules."""

from __future__ import annotations

import re
from pathlib import Path

from torchsleuth.control.pages import files, pages
from torchsleuth.rules.registry import INDEX_FILE, RULES, index_text

FOLDER = Path(__file__).parents[2] / "docs" / "rules"
HEADINGS = ["What it finds", "Why it hurts", "Example", "Use instead", "Fix safety", "References"]


def test_pages_are_current() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert written == files(), "run `make docs`"


def test_the_index_of_the_rules_is_current() -> None:
    assert INDEX_FILE.read_text(encoding="utf-8") == index_text(), "run `make docs`"


def test_every_rule_has_all_its_sections_and_a_page() -> None:
    for rule in RULES.values():
        headings = [line for line in rule.documentation.splitlines()[1:] if line and not line[0].isspace()]
        assert headings == HEADINGS, rule.name
        assert rule.documentation.startswith(f"{rule.name}: "), rule.name
        assert rule.code in pages()


def test_codes_and_names_look_alike() -> None:
    for page in pages().values():
        assert re.fullmatch(r"TS[0-9]\d\d", page.code)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", page.name), page.name
    assert len({page.name for page in pages().values()}) == len(pages())
