"""Parses text that may be broken right now: the offending statement is blanked, positions never shift."""

from __future__ import annotations

import ast
import re
import warnings

from torchsleuth.syntax.edits import indentation
from torchsleuth.syntax.text import SourceText

_OPENS_BLOCK = re.compile(r"\s*(?:if|elif|else|for|while|def|class|with|try|except|finally|match|case|async)\b")
MAX_KEPT = 200_000
"""Characters of texts whose trees are kept; a tree takes some 60 bytes for each."""
MAX_REPAIRS = 40
"""Broken places that are blanked before the rest of the file is given up."""


def parse(source: SourceText) -> ast.Module:
    """The tree of a text. Never fails: what cannot be parsed is left out."""
    tree, _ = parse_with_errors(source)
    return tree


def parse_with_errors(source: SourceText) -> tuple[ast.Module, tuple[int, ...]]:
    """The tree, and the 1-based lines that were blanked to get it. Trees are shared: nothing changes them."""
    text = source.text
    found = _kept.pop(text, None) or _recovered(text)
    _kept[text] = found
    excess = sum(map(len, _kept)) - MAX_KEPT
    while excess > 0:
        oldest = next(iter(_kept))
        del _kept[oldest]
        excess -= len(oldest)
    source.blanked = frozenset(found[1])
    return found


_kept: dict[str, tuple[ast.Module, tuple[int, ...]]] = {}
"""Trees of texts, the one that was asked for last at the end."""


def _recovered(text: str) -> tuple[ast.Module, tuple[int, ...]]:
    text = text.replace("\0", " ")
    count = SourceText("", text).line_count
    blanked: list[int] = []
    for _ in range(MAX_REPAIRS):
        try:
            return _parse(text), tuple(sorted(set(blanked)))
        except SyntaxError as error:
            line = min(max(error.lineno or 1, 1), count)
            repaired = _blank(SourceText("", text), line, error, blanked)
            if repaired is None:
                break
            text = repaired
        except (ValueError, RecursionError, MemoryError):
            break
    return ast.Module([], []), tuple(range(1, count + 1))


def parses(text: str) -> bool:
    """Whether a text is Python as a whole."""
    try:
        _parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _blank(source: SourceText, line: int, error: SyntaxError, blanked: list[int]) -> str | None:
    """The text with one line replaced by ``pass`` at its indentation (so that no block becomes empty)."""
    while line >= 1 and (line in blanked or not source.line(line).strip()):
        line -= 1
    if line < 1:
        return None
    content = source.line(line)
    indent = indentation(source, line)
    if isinstance(error, IndentationError) and "expected an indented block" in str(error):
        # The statement before opens a block that has no body: blank that header.
        header = line - 1
        while header >= 1 and (header in blanked or not source.line(header).strip()):
            header -= 1
        if header >= 1 and source.line(header).rstrip().endswith(":"):
            line, content, indent = header, source.line(header), indentation(source, header)
    else:
        above, below = _neighbour(source, line, -1), _neighbour(source, line, 1)
        if isinstance(error, IndentationError) and above:
            # Align with the line before, whatever it was meant to be.
            indent = indentation(source, above)
            if below and indentation(source, below) == indentation(source, line) > indent and above not in blanked:
                # It is the line before that is out of place.
                line, content, indent = above, source.line(above), indentation(source, line)
        elif above and below and not _OPENS_BLOCK.match(content):
            if len(indentation(source, above)) == len(indentation(source, below)) > len(indent):
                # The rest of a statement that was divided: the block goes on.
                indent = indentation(source, above)
    blanked.append(line)
    width = len(content)
    filler = (indent + "pass").ljust(width)
    start = source.offset(source.position(_start_offset(source, line)))
    return source.text[:start] + filler[: max(width, len(indent) + 4)] + source.text[start + width :]


def _neighbour(source: SourceText, line: int, step: int) -> int:
    """The next line above or below that is not empty, 0 if there is none."""
    line += step
    while 1 <= line <= source.line_count and not source.line(line).strip():
        line += step
    return line if 1 <= line <= source.line_count else 0


def _start_offset(source: SourceText, line: int) -> int:
    return source._starts[line - 1]
