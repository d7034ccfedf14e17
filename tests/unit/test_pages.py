"""The pages of docs/rules are those of the catalogue."""

from __future__ import annotations

from pathlib import Path

from torchsleuth.control.pages import files

FOLDER = Path(__file__).parents[2] / "docs" / "rules"


def test_pages_are_current() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert written == files(), "run `make docs`"
