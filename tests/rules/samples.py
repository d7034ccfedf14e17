"""Samples of each rule: scripts in which it finds the fault, what its first fix makes of them, and near misses.

``samples/TS501.md`` begins with examples, ``## example: 1``: a script with caret comments (see tests/check.py), after
``fixed:`` what the first fix makes of it, and after ``silent:`` a script that differs little, in which nothing is found.

Then there is a heading for each sample, ``## found: what`` or ``## silent: what``, followed by the whole script in a
fenced block. In a found one, the line that the diagnostic stands on ends with ``# TS501``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "samples"
_BLOCK = r"\n+```python\n(.*?)^```$"
_EXAMPLE = re.compile(
    rf"^## example: (\d+)\n{_BLOCK}(?:\n+^fixed:\n{_BLOCK})?(?:\n+^silent:\n{_BLOCK})?", re.MULTILINE | re.DOTALL
)
_SAMPLE = re.compile(rf"^## (found|silent): (.+?){_BLOCK}", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """`fixed`: None where there is no fix."""

    code: str
    number: str
    bad: str
    fixed: str | None
    good: str | None

    def __str__(self) -> str:
        return f"{self.code}-{self.number}"


@dataclass(frozen=True)
class Sample:
    """`lines`: where the rule's diagnostics stand, 1-based; none for a near miss."""

    code: str
    title: str
    text: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.code}: {self.title}"


def load_examples(folder: Path = FOLDER) -> Iterator[Example]:
    """All examples, in order."""
    for path in sorted(folder.glob("TS*.md")):
        for number, bad, fixed, good in _EXAMPLE.findall(path.read_text(encoding="utf-8")):
            yield Example(path.stem, number, bad, fixed or None, good or None)


def load_samples(folder: Path = FOLDER) -> Iterator[Sample]:
    """All samples, in order. Raises ValueError for a found one without a marked line."""
    for path in sorted(folder.glob("TS*.md")):
        code = path.stem
        for kind, title, text in _SAMPLE.findall(path.read_text(encoding="utf-8")):
            marked = [number for number, line in enumerate(text.splitlines(), 1) if line.rstrip().endswith(f"# {code}")]
            if (kind == "found") != bool(marked):
                raise ValueError(f"{path.name}: {title}: {kind}, but {len(marked)} marked lines")
            yield Sample(code, title, text, tuple(marked))
