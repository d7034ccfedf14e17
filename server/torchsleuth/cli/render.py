"""Diagnostics for people (source frame, caret, where each size came from, each fix as a small diff) and for machines."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from torchsleuth.cli.files import Unreadable, read_source
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Fix, Position, TensorFact
from torchsleuth.syntax.text import SourceText

MAX_DIFF_LINES = 12
_COLOURS = {"error": "bold red", "warning": "bold yellow", "hint": "bold cyan"}
_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
"""Control characters as visible ones, each a cell wide, so that a source cannot steer the terminal."""
Sources = Callable[[str], SourceText]


def console(stderr: bool = False) -> Console:
    """An output without wrapping or markup; with colours only on a terminal, and not where NO_COLOR is set."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)


def to_json(items: Sequence[Diagnostic | TensorFact]) -> str:
    """One array in the shape of the machine interface; ASCII, so that no terminal's encoding can spoil it."""
    return json.dumps([item.to_json() for item in items], indent=2)


def concise(diagnostic: Diagnostic) -> str:
    start = diagnostic.start
    return f"{diagnostic.path}:{start.line}:{start.column}: {diagnostic.code} {diagnostic.message}"


def print_diagnostic(out: Console, diagnostic: Diagnostic, sources: Sources) -> None:
    colour = _COLOURS[diagnostic.severity]
    label = f"{diagnostic.severity}[{diagnostic.code}]"
    out.print(Text.assemble((label, colour), (f" {diagnostic.name}: ", "bold"), visible(diagnostic.message)))
    start = diagnostic.start
    out.print(f"  --> {diagnostic.path}:{start.line}:{start.column}")
    _frame(out, sources(diagnostic.path), start, diagnostic.end, "^", colour)
    for related in diagnostic.related:
        note = message("cli.note", message=visible(related.message), path=related.path, line=related.start.line)
        out.print(Text(f"  {note}", style="dim"))
        _frame(out, sources(related.path), related.start, related.end, "-", "blue")
    for fix in diagnostic.fixes:
        _fix(out, fix, sources)
    out.print()


def visible(text: str) -> str:
    """One line as it is shown: tabs as four cells at most, control characters as pictures."""
    return text.translate(_CONTROL_PICTURES).expandtabs(4)


def caret_columns(line: str, start: int, end: int) -> tuple[int, int]:
    """The terminal cells before a stretch of a line (1-based columns in code points), and the cells it covers."""
    before = cell_len(visible(line[: start - 1]))
    return before, max(cell_len(visible(line[: end - 1])) - before, 1)


def _frame(out: Console, source: SourceText, start: Position, end: Position, mark: str, colour: str) -> None:
    line = source.line(start.line)
    if not line.strip():
        return
    number = f"{start.line:>5} | "
    before, width = caret_columns(line, start.column, end.column if end.line == start.line else len(line) + 1)
    out.print(Text(number, style="dim") + Text(visible(line)))
    out.print(Text(" " * (len(number) + before)) + Text(mark * width, style=colour))


def _fix(out: Console, fix: Fix, sources: Sources) -> None:
    title = fix.title if fix.verified else message("cli.unverified", title=fix.title)
    out.print(Text("  " + message("cli.fix" if fix.safe else "cli.possible_fix", title=visible(title)), style="green"))
    lines = list(diff_lines(fix, sources))
    for sign, text in lines[:MAX_DIFF_LINES]:
        out.print(Text(f"       {sign} {visible(text)}", style="red" if sign == "-" else "green"))
    if len(lines) > MAX_DIFF_LINES:
        out.print(f"         {message('cli.more_lines', count=len(lines) - MAX_DIFF_LINES)}")


def diff_lines(fix: Fix, sources: Sources) -> Iterator[tuple[str, str]]:
    """The lines that a fix removes ("-") and adds ("+"), without context."""
    for path in sorted({edit.path for edit in fix.edits}):
        source = sources(path)
        old, new = _lines(source), _lines(SourceText(path, source.apply(fix.edits)))
        for kind, *bounds in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                yield from (("-", line) for line in old[bounds[0] : bounds[1]])
                yield from (("+", line) for line in new[bounds[2] : bounds[3]])


def _lines(source: SourceText) -> list[str]:
    return [source.line(number) for number in range(1, source.line_count + 1)]


def source_reader(known: dict[str, str]) -> Sources:
    """Sources by path: the given texts, else the file on disk; empty where it cannot be read."""
    cache: dict[str, SourceText] = {}

    def read(path: str) -> SourceText:
        if path not in cache:
            text = known.get(path)
            if text is None:
                try:
                    text = read_source(Path(path))
                except Unreadable:
                    text = ""
            cache[path] = SourceText(path, text)
        return cache[path]

    return read
