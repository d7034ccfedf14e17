"""Diagnostics as text for people: source frame, caret, where each size came from, the fix as a small diff."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from torchsleuth.schema import Diagnostic, Fix, Position
from torchsleuth.syntax.text import SourceText

_COLOURS = {"error": "bold red", "warning": "bold yellow", "hint": "bold cyan"}
Sources = Callable[[str], SourceText]


def console() -> Console:
    """Standard output; colours only on a terminal."""
    return Console(highlight=False, soft_wrap=True)


def concise(diagnostic: Diagnostic) -> str:
    start = diagnostic.start
    return f"{diagnostic.path}:{start.line}:{start.column}: {diagnostic.code} {diagnostic.message}"


def print_diagnostic(out: Console, diagnostic: Diagnostic, sources: Sources) -> None:
    colour = _COLOURS[diagnostic.severity]
    head = Text.assemble(
        (f"{diagnostic.severity}[{diagnostic.code}]", colour), (f" {diagnostic.name}: ", "bold"), diagnostic.message
    )
    out.print(head)
    start = diagnostic.start
    out.print(f"  --> {diagnostic.path}:{start.line}:{start.column}")
    _frame(out, sources(diagnostic.path), start, diagnostic.end, "^", colour)
    for related in diagnostic.related:
        out.print(Text(f"  note: {related.message}  ({related.path}:{related.start.line})", style="dim"))
        _frame(out, sources(related.path), related.start, related.end, "-", "blue")
    for fix in diagnostic.fixes:
        _fix(out, fix, sources)
    out.print()


def _frame(out: Console, source: SourceText, start: Position, end: Position, mark: str, colour: str) -> None:
    line = source.line(start.line)
    if not line.strip():
        return
    last = end.column if end.line == start.line else len(line) + 1
    before = line[: start.column - 1].expandtabs(4)
    marked = line[start.column - 1 : max(last - 1, start.column)].expandtabs(4)
    number = f"{start.line:>5} | "
    out.print(Text(number, style="dim") + Text(line.expandtabs(4)))
    pad = " " * (len(number) + cell_len(before))
    out.print(Text(pad) + Text(mark * max(cell_len(marked), 1), style=colour))


def _fix(out: Console, fix: Fix, sources: Sources) -> None:
    kind = "fix" if fix.safe else "possible fix"
    checked = "" if fix.verified else " (not verified)"
    out.print(Text(f"  {kind}: {fix.title}{checked}", style="green"))
    for sign, text in diff_lines(fix, sources):
        out.print(Text(f"       {sign} {text}", style="red" if sign == "-" else "green"))


def diff_lines(fix: Fix, sources: Sources) -> Iterator[tuple[str, str]]:
    """The lines that a fix removes ("-") and adds ("+"), without context; long ones are cut."""
    import difflib

    for path in sorted({edit.path for edit in fix.edits}):
        source = sources(path)
        old, new = source.text.splitlines(), source.apply(fix.edits).splitlines()
        changed = [line for line in difflib.unified_diff(old, new, lineterm="", n=0) if line[:3] not in ("---", "+++", "@@ ")]
        for line in changed[:12]:
            if not line.startswith("@@"):
                yield line[0], line[1:].expandtabs(4)
        if len(changed) > 12:
            yield " ", f"… {len(changed) - 12} more lines"


def source_reader(known: dict[str, str]) -> Sources:
    """Sources by path: the given texts, else the file on disk."""
    cache: dict[str, SourceText] = {}

    def read(path: str) -> SourceText:
        if path not in cache:
            text = known.get(path)
            if text is None:
                try:
                    text = Path(path).read_text(errors="replace")
                except OSError:
                    text = ""
            cache[path] = SourceText(path, text)
        return cache[path]

    return read
