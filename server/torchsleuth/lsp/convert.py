"""Our values as LSP types. Positions become UTF-16 here and nowhere else."""

from __future__ import annotations

from lsprotocol import types

from torchsleuth.schema import Position
from torchsleuth.syntax.text import SourceText


def to_position(source: SourceText, position: Position) -> types.Position:
    line, character = source.to_utf16(position)
    return types.Position(max(line, 0), character)


def to_range(source: SourceText, start: Position, end: Position) -> types.Range:
    return types.Range(to_position(source, start), to_position(source, end))


def from_position(source: SourceText, position: types.Position) -> Position:
    return source.from_utf16(position.line, position.character)
