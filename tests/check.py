"""The promise of the rules: source text with caret comments in, exactly those diagnostics and that fixed text out."""

from __future__ import annotations

import re
import textwrap
from functools import lru_cache

from torchsleuth.faults import FAULTS
from torchsleuth.schema import Diagnostic, FileAnalysis
from torchsleuth.syntax.text import SourceText
from torchsleuth.worker.engine import Engine
from torchsleuth.worker.times import Times

_CARETS = re.compile(r"^(\s*)#(\s*)(\^+)\s+(TS\d+)(?::\s*(.*))?$")
PATH = "script.py"
PATIENT = Times().slower(10)
"""The speed of the machine that tests run on is not what they test."""


@lru_cache(maxsize=1)
def engine() -> Engine:
    """One engine for all tests, as for all documents of a session."""
    return Engine(times=PATIENT)


def analyze(text: str, *also: str | None, **overlay: str) -> FileAnalysis:
    """`also`: rules that are asked beside those that are on by default."""
    codes = [code for code, fault in FAULTS.items() if fault.default or code in also]
    return engine().analyze(PATH, text, {f"{name}.py": other for name, other in overlay.items()}, codes=codes)


def split_carets(text: str) -> tuple[str, list[tuple[int, int, int, str, str]]]:
    """The source without its caret comments, and (line, column, end column, code, message part) for each.

    A caret comment stands below the line it speaks of: ``#     ^^^^ TS101: part of the message``.
    """
    lines: list[str] = []
    expected: list[tuple[int, int, int, str, str]] = []
    for line in textwrap.dedent(text).lstrip("\n").splitlines():
        match = _CARETS.match(line)
        if match is None:
            lines.append(line)
            continue
        start = match.start(3) + 1
        expected.append((len(lines), start, start + len(match[3]), match[4], match[5] or ""))
    return "\n".join(lines) + "\n", expected


def check(
    text: str, fixed: str | None = None, title: str | None = None, also: str | None = None, **overlay: str
) -> tuple[Diagnostic, ...]:
    """Analyse `text`: the diagnostics are exactly those of its caret comments. With `fixed`, the first verified fix
    of the first diagnostic (or the one called `title`) turns the source into that text, which is then silent about it."""
    source, expected = split_carets(text)
    found = analyze(source, also, **overlay)
    shown = [(d.start.line, d.start.column, d.end.column, d.code) for d in found.diagnostics]
    assert shown == [item[:4] for item in expected], "\n".join(d.message for d in found.diagnostics)
    for diagnostic, item in zip(found.diagnostics, expected):
        assert item[4] in diagnostic.message, diagnostic.message
        assert "\n" not in diagnostic.message
    if fixed is not None:
        fixes = [fix for fix in found.diagnostics[0].fixes if title in (None, fix.title)]
        assert fixes, [fix.title for fix in found.diagnostics[0].fixes]
        assert all(fix.verified for fix in found.diagnostics[0].fixes)
        result = SourceText(PATH, source).apply(fixes[0].edits)
        assert result == textwrap.dedent(fixed).lstrip("\n")
        codes = [d.code for d in analyze(result, also, **overlay).diagnostics]
        assert len(codes) < len(expected) and set(codes) <= {item[3] for item in expected}
    return found.diagnostics
