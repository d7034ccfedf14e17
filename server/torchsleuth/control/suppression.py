"""Comments that silence findings, read from the tokens of a file so that strings do not count.

``# torchsleuth: ignore`` silences every finding of its line, ``# torchsleuth: ignore[TS101,TS5]`` those of these codes,
and so does ``# noqa: TS101`` (a ``# noqa`` without codes is meant for other tools). On the last line of a statement a
comment counts for the whole statement. ``# torchsleuth: ignore-file`` and ``ignore-file[…]`` count for the file.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from torchsleuth.control.selection import fit
from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Edit, Fix, Position
from torchsleuth.syntax.text import SourceText

UNUSED = "TS001"
_OURS = re.compile(r"#\s*torchsleuth:\s*ignore(?P<file>-file)?\b(?![\w-])[ \t]*(?:\[(?P<codes>[^\]#]*)\])?")
_NOQA = re.compile(r"#\s*noqa:[ \t]*(?P<codes>[A-Za-z]+\d+(?:[,\s]+[A-Za-z]+\d+)*)", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]+\d*")
_MAX_RESTARTS = 40


@dataclass
class Suppression:
    """One such comment. `start`, `end`: its columns. `codes`: None for all. `lines`: what it counts for, None the file.
    `used`: which of its codes silenced something; "" for a comment without codes."""

    line: int
    start: int
    end: int
    codes: tuple[str, ...] | None
    lines: range | None
    noqa: bool = False
    used: set[str] = field(default_factory=set)

    def silences(self, diagnostic: Diagnostic) -> bool:
        if self.lines is not None and diagnostic.start.line not in self.lines:
            return False
        if self.codes is None:
            self.used.add("")
            return True
        fitting = [code for code in self.codes if fit((code.upper(),), diagnostic.code)]
        self.used.update(fitting)
        return bool(fitting)


def suppressions(source: SourceText) -> list[Suppression]:
    """The comments of a file that silence something."""
    if "torchsleuth:" not in source.text and "noqa" not in source.text.lower():
        return []
    found: list[Suppression] = []
    for token, first, last in _comments(source):
        line, column = token.start
        # On the last line of a statement: for all of it; on another one of its lines: for that line.
        lines = range(first, last + 1) if line == last else range(line, line + 1)
        for match in _OURS.finditer(token.string):
            codes = None if match["codes"] is None else tuple(_CODE.findall(match["codes"]))
            place = (column + match.start() + 1, column + match.end() + 1)
            found.append(Suppression(line, *place, codes, None if match["file"] else lines))
        for match in _NOQA.finditer(token.string):
            ours = tuple(code for code in _CODE.findall(match["codes"]) if re.fullmatch(r"(?i)TS\d+", code))
            if ours:
                place = (column + match.start() + 1, column + match.end() + 1)
                found.append(Suppression(line, *place, ours, lines, noqa=True))
    return found


def silence(diagnostics: Iterable[Diagnostic], comments: Sequence[Suppression]) -> list[Diagnostic]:
    """The diagnostics of one file that are left; the comments remember which of them were of use."""
    if not comments:
        return list(diagnostics)
    # All comments are asked: two of them that fit are both of use.
    return [item for item in diagnostics if not any([comment.silences(item) for comment in comments])]


def unused(source: SourceText, comments: Sequence[Suppression], looked_for: Iterable[str]) -> Iterator[Diagnostic]:
    """A diagnostic for each comment that silenced nothing, or that names codes which did not.

    `looked_for`: the codes that are on; nothing is said about others.
    """
    on = set(looked_for)
    for comment in comments:
        if comment.codes is None:
            if not comment.used:
                yield _unused(source, comment, (), message("control.unused"))
            continue
        idle = tuple(code for code in comment.codes if code not in comment.used and _decided(code, on))
        if idle:
            text = message("control.unused.codes", codes=", ".join(idle))
            yield _unused(source, comment, idle, text)


def _decided(code: str, on: set[str]) -> bool:
    """Whether everything that a code of a comment may mean was looked for."""
    return all(known in on for known in FAULTS if fit((code.upper(),), known))


def _unused(source: SourceText, comment: Suppression, idle: tuple[str, ...], text: str) -> Diagnostic:
    start, end = Position(comment.line, comment.start), Position(comment.line, comment.end)
    fix = Fix(message("fix.suppression"), (_without(source, comment, idle),), safe=True, verified=True)
    fault = FAULTS[UNUSED]
    return Diagnostic(source.path, fault.code, fault.name, fault.severity, text, start, end, (), (fix,))


def _without(source: SourceText, comment: Suppression, idle: tuple[str, ...]) -> Edit:
    """The comment without some of its codes; without any left, no comment."""
    line = source.line(comment.line)
    written = line[comment.start - 1 : comment.end - 1]
    if comment.noqa:
        kept = [code for code in _CODE.findall(written.partition(":")[2]) if code not in idle]
        replacement = f"{written.partition(':')[0]}: {', '.join(kept)}"
    else:
        kept = [code for code in comment.codes or () if code not in idle]
        replacement = f"{written.partition('[')[0]}[{', '.join(kept)}]"
    if kept:
        return Edit(
            source.path, Position(comment.line, comment.start), Position(comment.line, comment.end), replacement
        )
    before, after = line[: comment.start - 1].rstrip(), line[comment.end - 1 :].strip()
    if after and not after.startswith("#"):
        after = f"# {after}"  # words behind it: they stay a comment
    if not before and not after:
        if comment.line < source.line_count:
            return Edit(source.path, Position(comment.line, 1), Position(comment.line + 1, 1), "")
        return Edit(source.path, Position(comment.line, 1), Position(comment.line, len(line) + 1), "")
    space = "  " if before and after and before[-1] != "#" else ""
    if not before and after:
        return Edit(source.path, Position(comment.line, comment.start), Position(comment.line, len(line) + 1), after)
    return Edit(
        source.path, Position(comment.line, len(before) + 1), Position(comment.line, len(line) + 1), space + after
    )


def ignoring(source: SourceText, diagnostic: Diagnostic) -> Edit | None:
    """The edit that silences one diagnostic where it stands; None where no comment can."""
    line = diagnostic.start.line
    for place in dict.fromkeys((line, _last_line(source, line))):
        edit = _ignoring_at(source, diagnostic.code, place)
        after = SourceText(source.path, source.apply((edit,)))
        if any(comment.silences(diagnostic) for comment in suppressions(after)) and _same_code(source, after):
            return edit
    return None


def _ignoring_at(source: SourceText, code: str, line: int) -> Edit:
    text = source.line(line)
    for comment in suppressions(source):
        if comment.line == line and comment.codes is not None and comment.lines is not None and not comment.noqa:
            codes = ", ".join((*comment.codes, code))
            written = text[comment.start - 1 : comment.end - 1].partition("[")[0]
            return Edit(source.path, Position(line, comment.start), Position(line, comment.end), f"{written}[{codes}]")
    kept = text.rstrip()
    end = Position(line, len(kept) + 1)
    return Edit(source.path, end, Position(line, len(text) + 1), f"  # torchsleuth: ignore[{code}]")


def _last_line(source: SourceText, line: int) -> int:
    """The last line of the statement that a line belongs to."""
    for first, last in _logical_lines(source):
        if first <= line <= last:
            return last
    return line


def _same_code(before: SourceText, after: SourceText) -> bool:
    """Whether two texts differ in comments only."""
    return _significant(before) == _significant(after)


def _significant(source: SourceText) -> list[tuple[int, str]]:
    skipped = (tokenize.COMMENT, tokenize.NL)
    return [(token.type, token.string) for token in _tokens(source) if token.type not in skipped]


def _comments(source: SourceText) -> Iterator[tuple[tokenize.TokenInfo, int, int]]:
    """Each comment with the first and last line of the statement it stands in (of its own line between statements)."""
    waiting: list[tokenize.TokenInfo] = []
    first = 0
    for token in _tokens(source):
        if token.type == tokenize.COMMENT:
            waiting.append(token)
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            last = token.start[0]
            for comment in waiting:
                row = comment.start[0]
                inside = first and first <= row <= last
                yield comment, (first if inside else row), (last if inside else row)
            waiting, first = [], 0
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT) and not first:
            first = token.start[0]
    yield from ((comment, comment.start[0], comment.start[0]) for comment in waiting)


def _logical_lines(source: SourceText) -> Iterator[tuple[int, int]]:
    first = 0
    for token in _tokens(source):
        if token.type == tokenize.NEWLINE and first:
            yield first, token.start[0]
            first = 0
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT) and not first:
            first = token.start[0]


def _tokens(source: SourceText) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a text; where it is broken, those before the broken place and those after its line."""
    # Not its own line ends: form feeds and the like do not end lines for us.
    lines = [source.line(number) + "\n" for number in range(1, source.line_count + 1)]
    skipped = 0
    for _ in range(_MAX_RESTARTS):
        last = skipped
        try:
            for token in tokenize.generate_tokens(io.StringIO("".join(lines[skipped:]), newline="\n").readline):
                start, end = (token.start[0] + skipped, token.start[1]), (token.end[0] + skipped, token.end[1])
                last = max(last, end[0])
                yield token._replace(start=start, end=end)
            return
        except (tokenize.TokenError, SyntaxError):
            if last >= len(lines):
                return
            skipped = max(last, skipped + 1)
