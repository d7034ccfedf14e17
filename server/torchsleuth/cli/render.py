"""Diagnostics for people (source frame, caret, where each size came from, each fix as a small diff) and for machines."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from rich.cells import cell_len

from torchsleuth.cli.output import Output
from torchsleuth.escaping import escape
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Fix, Json, Position
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.syntax.notebooks import in_cells, shown
from torchsleuth.syntax.text import SourceText

MAX_DIFF_LINES = 12
_COLOURS = {"error": "bold red", "warning": "bold yellow", "hint": "bold cyan"}
Sources = Callable[[str], SourceText]


class HasJson(Protocol):
    """A value with a form in the machine interface."""

    def to_json(self) -> Json: ...


def to_json(items: Sequence[HasJson], sources: Sources | None = None) -> str:
    """One array in the shape of the machine interface; ASCII, so that no terminal's encoding can spoil it."""
    read = sources or source_reader({})
    return json.dumps([in_cells(item.to_json(), lambda path: read(path).text) for item in items], indent=2)


def concise(diagnostic: Diagnostic, sources: Sources) -> str:
    where = _place(diagnostic.path, diagnostic.start, sources)
    return f"{where}: {diagnostic.code} {diagnostic.message}"


def _place(path: str, start: Position, sources: Sources) -> str:
    """A place as it is shown; in a notebook it is told as the cell and the line in it."""
    return f"{_line(path, start, sources)}:{start.column}"


def _line(path: str, start: Position, sources: Sources) -> str:
    path, line = shown(path, sources(path).text, start.line)
    return f"{path}:{line}"


def print_diagnostic(out: Output, diagnostic: Diagnostic, sources: Sources) -> None:
    colour = _COLOURS[diagnostic.severity]
    label = f"{diagnostic.severity}[{diagnostic.code}]"
    out.line((label, colour), (f" {diagnostic.name}: ", "bold"), diagnostic.message)
    start = diagnostic.start
    out.line(f"  --> {_place(diagnostic.path, start, sources)}")
    _frame(out, sources(diagnostic.path), start, diagnostic.end, "^", colour)
    for related in diagnostic.related:
        note = message("cli.note", message=related.message, place=_line(related.path, related.start, sources))
        out.line((f"  {note}", "dim"))
        _frame(out, sources(related.path), related.start, related.end, "-", "blue")
    for fix in diagnostic.fixes:
        _fix(out, fix, sources)
    out.line()


def print_place(out: Output, path: str, start: Position, end: Position, sources: Sources, colour: str) -> None:
    """A place of the user's code, with its line."""
    out.line(f"  --> {_place(path, start, sources)}")
    _frame(out, sources(path), start, end, "^", colour)


def visible(text: str) -> str:
    """One line as it is shown: tabs as four cells at most, what would steer the terminal escaped."""
    return escape(text.expandtabs(4))


def caret_columns(line: str, start: int, end: int) -> tuple[int, int]:
    """The terminal cells before a stretch of a line (1-based columns in code points), and the cells it covers."""
    before = cell_len(visible(line[: start - 1]))
    return before, max(cell_len(visible(line[: end - 1])) - before, 1)


def _frame(out: Output, source: SourceText, start: Position, end: Position, mark: str, colour: str) -> None:
    line = source.line(start.line)
    if not line.strip():
        return
    number = f"{shown(source.path, source.text, start.line)[1]:>5} | "
    before, width = caret_columns(line, start.column, end.column if end.line == start.line else len(line) + 1)
    out.line((number, "dim"), visible(line))
    out.line(" " * (len(number) + before), (mark * width, colour))


def _fix(out: Output, fix: Fix, sources: Sources) -> None:
    title = fix.title if fix.verified else message("cli.unverified", title=fix.title)
    out.line(("  " + message("cli.fix" if fix.safe else "cli.possible_fix", title=title), "green"))
    lines = list(diff_lines(fix, sources))
    for sign, text in lines[:MAX_DIFF_LINES]:
        out.line((f"       {sign} {visible(text)}", "red" if sign == "-" else "green"))
    if len(lines) > MAX_DIFF_LINES:
        out.line(f"         {message('cli.more_lines', count=len(lines) - MAX_DIFF_LINES)}")


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
