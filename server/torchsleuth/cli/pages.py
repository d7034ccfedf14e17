"""``python -m torchsleuth.cli.pages docs/rules``: writes the page of each fault, and their list."""

from __future__ import annotations

import sys
from pathlib import Path

from torchsleuth.control.pages import files


def main(target: Path) -> None:
    texts = files()
    target.mkdir(parents=True, exist_ok=True)
    for stale in {path.name for path in target.glob("*.md")} - texts.keys():
        (target / stale).unlink()
    for name, text in texts.items():
        (target / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
