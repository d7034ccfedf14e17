"""Our values as LSP types. Positions take the client's encoding here and nowhere else."""

from __future__ import annotations

from lsprotocol import types

from torchsleuth.schema import Json, Position
from torchsleuth.syntax.text import Encoding, SourceText


def to_position(source: SourceText, position: Position, encoding: Encoding) -> types.Position:
    line, character = source.to_units(position, encoding)
    return types.Position(max(line, 0), character)


def to_range(source: SourceText, start: Position, end: Position, encoding: Encoding) -> types.Range:
    return types.Range(to_position(source, start, encoding), to_position(source, end, encoding))


def range_json(where: types.Range) -> Json:
    """A range in what is not of the protocol's own."""
    return {
        side: {"line": at.line, "character": at.character} for side, at in (("start", where.start), ("end", where.end))
    }


def from_position(source: SourceText, position: types.Position, encoding: Encoding) -> Position:
    return source.from_units(position.line, position.character, encoding)
