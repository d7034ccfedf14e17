"""Open documents as immutable snapshots, and what a change does to positions in them.

The texts pygls keeps are not used: its lines also end at form feeds and Unicode separators, where neither Python's
nor the editor's do, and its documents change while background work looks at them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from torchsleuth.lsp.convert import from_position
from torchsleuth.schema import Position
from torchsleuth.syntax import files
from torchsleuth.syntax.names import mentions
from torchsleuth.syntax.text import Encoding, SourceText

_URI = re.compile(r"[a-z][a-z0-9+.-]+:")
"""The beginning of a URI; a drive letter is shorter."""


@dataclass(frozen=True)
class TextChange:
    """One replaced stretch: where it began, where it ended before, and where it ends now. `blank`: there was, and is, nothing
    but space in it."""

    start: Position
    old_end: Position
    new_end: Position
    blank: bool = False

    def moved(self, start: Position, end: Position) -> tuple[Position, Position] | None:
        """Where a span lies after the change; None if the change reached into it, and not only with space."""
        if end <= self.start:
            return start, end
        if start >= self.old_end:
            return self._after(start), self._after(end)
        if self.blank and start <= self.start and self.old_end <= end:
            return start, self._after(end)
        return None

    def touches_lines(self, start: Position, end: Position) -> bool:
        """Whether one of the span's lines is another now. A change that ends where a line begins leaves that line."""
        last = self.old_end.line
        if last > self.start.line and self.old_end.column == 1 and self.new_end.column == 1:
            last -= 1
        first = self.start.line
        if self.start == self.old_end and self.start.column == 1 and self.new_end.column == 1:
            return start.line < first <= end.line  # whole lines inserted before `first`
        return first <= end.line and start.line <= last

    def _after(self, position: Position) -> Position:
        column = position.column
        if position.line == self.old_end.line:
            column += self.new_end.column - self.old_end.column
        return Position(position.line + self.new_end.line - self.old_end.line, column)


@dataclass(frozen=True)
class Document:
    """One version of an open document. `path` is the URI itself where there is no file, as for untitled ones."""

    uri: str
    path: str
    version: int
    source: SourceText

    @property
    def text(self) -> str:
        return self.source.text


class Documents:
    """The open documents, by path."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self.encoding: Encoding = "utf-16"
        """The unit in which the client counts columns."""

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def get(self, uri: str) -> Document | None:
        return self._open.get(path_of(uri))

    def at(self, path: str) -> Document | None:
        return self._open.get(path)

    def uri(self, path: str) -> str:
        """The URI of a path, in the client's own spelling where the document is open."""
        document = self._open.get(path)
        if document is not None:
            return document.uri
        return path if _URI.match(path) else from_fs_path(path) or path

    def source(self, path: str) -> SourceText:
        """The text of an open document or of a file; empty where there is neither."""
        document = self._open.get(path)
        return document.source if document is not None else read_source(path)

    def open(self, item: types.TextDocumentItem) -> Document:
        path = path_of(item.uri)
        document = Document(item.uri, path, item.version, SourceText(path, item.text))
        self._open[path] = document
        return document

    def close(self, uri: str) -> Document | None:
        return self._open.pop(path_of(uri), None)

    def change(
        self, uri: str, version: int, events: Sequence[types.TextDocumentContentChangeEvent]
    ) -> tuple[Document, tuple[TextChange, ...]] | None:
        """The document after a ``didChange``, and what changed, in order. None if it is not open."""
        document = self.get(uri)
        if document is None:
            return None
        source, changes = document.source, []
        for event in events:
            if isinstance(event, types.TextDocumentContentChangePartial):
                after, change = _replace(source, event.range, event.text, self.encoding)
                changes.append(change)
            else:
                after = SourceText(source.path, event.text)
                changes += difference(source, after)
            source = after
        document = Document(document.uri, document.path, version, source)
        self._open[document.path] = document
        return document, tuple(changes)

    def importing(self, path: str) -> list[Document]:
        """Open documents that mention the module at `path` in an import, and those that import them in turn."""
        found: dict[str, Document] = {}
        waiting = [path]
        while waiting:
            module = waiting.pop()
            for document in self:
                if document.path != path and document.path not in found and mentions(document.text, module):
                    found[document.path] = document
                    waiting.append(document.path)
        return list(found.values())


def path_of(uri: str) -> str:
    """The file's path, or the URI itself where it names no file."""
    return (to_fs_path(uri) or uri) if uri.startswith("file:") else uri


def read_source(path: str) -> SourceText:
    """A file as Python decodes it; empty if it cannot be read."""
    try:
        return SourceText(path, files.read_source(path))
    except files.Unreadable:
        return SourceText(path, "")


def difference(before: SourceText, after: SourceText) -> tuple[TextChange, ...]:
    """The part between the common beginning and the common end of two texts, as one change."""
    old, new = before.text, after.text
    if old == new:
        return ()
    limit = min(len(old), len(new))
    head = next((index for index in range(limit) if old[index] != new[index]), limit)
    tail = next((index for index in range(limit - head) if old[-1 - index] != new[-1 - index]), limit - head)
    blank = not (old[head : len(old) - tail] + new[head : len(new) - tail]).strip()
    change = TextChange(before.position(head), before.position(len(old) - tail), after.position(len(new) - tail), blank)
    return (change,)


def _replace(source: SourceText, where: types.Range, text: str, encoding: Encoding) -> tuple[SourceText, TextChange]:
    start = source.offset(from_position(source, where.start, encoding))
    end = source.offset(from_position(source, where.end, encoding))
    after = SourceText(source.path, source.text[:start] + text + source.text[end:])
    blank = not (source.text[start:end] + text).strip()
    change = TextChange(source.position(start), source.position(end), after.position(start + len(text)), blank)
    return after, change
