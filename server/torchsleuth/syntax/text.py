"""One immutable version of a file's text, with conversions between every way of counting columns."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Literal

from torchsleuth.schema import Edit, Position, Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]
"""The unit in which an editor counts columns: bytes, units of 16 bits, or code points."""
_LINE_END = re.compile(r"\r\n|\r|\n")


class SourceText:
    """A file's text and its line table.

    Lines end at ``\\n``, ``\\r\\n`` or ``\\r`` only, as in `ast` and in VS Code; form feed and the Unicode
    separators do not end a line. `ast` columns count UTF-8 bytes, LSP columns what client and
    server have agreed on, and `Position` columns code points.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.blanked: frozenset[int] = frozenset()
        """Lines that do not parse and were left out; known once it was parsed."""
        self._spans: dict[ast.AST, Span] = {}
        self._bytes: dict[int, list[int]] = {}

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def _lines(self) -> list[str]:
        """Lines without their ends: cut once, since a line of a megabyte may have a hundred thousand nodes."""
        ends = [*self._starts[1:], len(self.text)]
        return [self.text[start:end].rstrip("\r\n") for start, end in zip(self._starts, ends, strict=True)]

    @property
    def line_count(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """The text of 1-based line `number` without its line ending; '' beyond the file."""
        if not 1 <= number <= len(self._starts):
            return ""
        return self._lines[number - 1]

    def offset(self, position: Position) -> int:
        """Code-point offset of a position, clamped to its line."""
        if position.line < 1:
            return 0
        if position.line > len(self._starts):
            return len(self.text)
        start = self._starts[position.line - 1]
        return start + min(max(position.column - 1, 0), len(self.line(position.line)))

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def from_utf8(self, line: int, byte_column: int) -> Position:
        """The position of an `ast` location (1-based line, 0-based UTF-8 byte column)."""
        text = self.line(line)
        if text.isascii():
            return Position(line, byte_column + 1)
        return Position(line, bisect_right(self._bytes_before(line), byte_column))

    def _bytes_before(self, line: int) -> list[int]:
        """The number of UTF-8 bytes before each character of a line, and before its end."""
        found = self._bytes.get(line)
        if found is None:
            found = self._bytes[line] = [0, *accumulate(len(char.encode()) for char in self.line(line))]
        return found

    def from_units(self, line: int, column: int, encoding: Encoding) -> Position:
        """The position of an LSP location (0-based line, 0-based column in units of `encoding`)."""
        text = self.line(line + 1)
        if encoding == "utf-32" or text.isascii():
            return Position(line + 1, min(column, len(text)) + 1)
        units = 0
        for index, char in enumerate(text):
            if units >= column:
                return Position(line + 1, index + 1)
            units += _units(char, encoding)
        return Position(line + 1, len(text) + 1)

    def to_units(self, position: Position, encoding: Encoding) -> tuple[int, int]:
        """The LSP location (0-based line, 0-based column in units of `encoding`) of a position."""
        text = self.line(position.line)
        before = min(max(position.column - 1, 0), len(text))
        return position.line - 1, before if text.isascii() else _units(text[:before], encoding)

    def start_of(self, node: ast.AST) -> Position:
        return self.from_utf8(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end_of(self, node: ast.AST) -> Position:
        return self.from_utf8(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def span(self, node: ast.AST) -> Span:
        """The span of an `ast` node that carries a location."""
        found = self._spans.get(node)
        if found is None:
            found = self._spans[node] = Span(self.path, self.start_of(node), self.end_of(node))
        return found

    def slice(self, start: Position, end: Position) -> str:
        return self.text[self.offset(start) : self.offset(end)]

    def segment(self, node: ast.AST) -> str:
        """The source text of a node."""
        return self.slice(self.start_of(node), self.end_of(node))

    def on_one_line(self, node: ast.AST) -> str:
        """The source text of a node with single spaces, as a message shows it."""
        return " ".join(self.segment(node).split())

    def apply(self, edits: tuple[Edit, ...] | list[Edit]) -> str:
        """The text after those of `edits` that are for this file. Raises ValueError where two overlap."""
        result, last = self.text, len(self.text) + 1
        mine = [edit for edit in edits if edit.path == self.path]
        for edit in sorted(mine, key=lambda edit: (edit.start, edit.end), reverse=True):
            start, end = self.offset(edit.start), self.offset(edit.end)
            if end > last or end < start:
                raise ValueError(f"overlapping edits in {self.path} at line {edit.start.line}")
            result = result[:start] + edit.new_text + result[end:]
            last = start
        return result


def _units(text: str, encoding: Encoding) -> int:
    """How many units of an encoding a text takes."""
    if encoding == "utf-32":
        return len(text)
    return (
        len(text.encode(errors="surrogatepass"))
        if encoding == "utf-8"
        else len(text.encode("utf-16-le", "surrogatepass")) // 2
    )
