"""Parses text that may be broken right now: the offending statement is blanked, positions never shift."""

from __future__ import annotations

import ast
import contextlib
import gc
import re
import time
import warnings
from collections.abc import Iterator

from torchsleuth.syntax.edits import indentation
from torchsleuth.syntax.text import SourceText

_GOES_ON = re.compile(r"(?:elif|else|except|finally)\b|[#)\]}]")
"""Clauses that begin at the margin, and go on with the statement before."""
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_OPENS_BLOCK = re.compile(r"\s*(?:if|elif|else|for|while|def|class|with|try|except|finally|match|case|async)\b")
_FORMATTED = re.compile(r"\b(?:[fF][rR]?|[rR][fF])[\"']")
MAX_KEPT = 200_000
"""Characters of texts whose trees are kept, but for the last one, however long; a tree takes some 60 bytes for each."""
MAX_REPAIRS = 40
"""Broken places that are blanked before the rest of the file is given up."""
REPAIR_SECONDS = 2.0
"""Time of the processor after which the same holds: there are lines that Python's parser needs seconds for."""
MAX_FORMATTED = 100_000
"""Characters of a line with an f-string; a longer one is blanked, since the parser of Python before 3.12 takes time by the
square of its length, and cannot be interrupted: 15 seconds for 800,000 characters."""
MAX_NESTING = 2000
"""Nodes around a node, as in a sum of so many terms; a statement that nests deeper is blanked. Whatever follows a tree calls
itself a few times for each."""


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
    while excess > 0 and len(_kept) > 1:
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
    shallow = False
    if len(text) > MAX_FORMATTED:
        lines = enumerate(_LINES.findall(text), start=1)
        text = _without(text, [(at, at) for at, line in lines if _is_long_formatted(line)], blanked)
    began = time.process_time()
    for repair in range(MAX_REPAIRS):
        if repair > 1 and time.process_time() - began > REPAIR_SECONDS:
            break
        try:
            tree = _parse(text)
            deep = _too_deep(tree)
            if not deep:
                return tree, tuple(sorted(set(blanked)))
            text = _without(text, deep, blanked)
        except SyntaxError as error:
            line = min(max(error.lineno or 1, 1), count)
            repaired = _blank(SourceText("", text), line, error, blanked)
            if repaired is None:
                break
            text = repaired
        except (ValueError, RecursionError, MemoryError):
            # Python's own parser gives up on it, and does not say where.
            if shallow:
                break
            shallow, text = True, _without(text, _unreadable(text), blanked)
    return ast.Module([], []), tuple(range(1, count + 1))


def _is_long_formatted(line: str) -> bool:
    return len(line) > MAX_FORMATTED and _FORMATTED.search(line) is not None


def _too_deep(tree: ast.Module) -> list[tuple[int, int]]:
    """The lines of the statements that nest too deeply: the innermost ones, of an ``elif`` the whole ``if``."""
    found: dict[int, tuple[int, int]] = {}
    waiting: list[tuple[ast.AST, int, ast.stmt | None]] = [(tree, 0, None)]
    while waiting:
        node, depth, owner = waiting.pop()
        if depth > MAX_NESTING and owner is not None:
            found[owner.lineno] = (owner.lineno, owner.end_lineno or owner.lineno)
            continue
        chained = isinstance(node, ast.If) and isinstance(owner, ast.If) and node.col_offset == owner.col_offset
        if isinstance(node, ast.stmt) and not chained:
            owner = node
        waiting += [(inner, depth + 1, owner) for inner in ast.iter_child_nodes(node)]
    return sorted(found.values())


def _unreadable(text: str) -> list[tuple[int, int]]:
    """The lines of those parts of a text, from one that begins at its margin to the next, that cannot be parsed for being
    too deep or too large."""
    lines = _LINES.findall(text)
    starts = [number for number, line in enumerate(lines) if line[:1].strip() and not _GOES_ON.match(line)]
    found: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        try:
            _parse("".join(lines[start:end]))
        except SyntaxError:
            continue
        except (ValueError, RecursionError, MemoryError):
            found.append((start + 1, end))
    return found


def _without(text: str, ranges: list[tuple[int, int]], blanked: list[int]) -> str:
    """The text with ``pass`` in the place of these lines."""
    lines = _LINES.findall(text)
    for start, end in ranges:
        for number in range(start - 1, min(end, len(lines))):
            content = lines[number].rstrip("\r\n")
            indent = content[: len(content) - len(content.lstrip())]
            filler = indent + "pass" if number == start - 1 else ""
            lines[number] = filler.ljust(len(content)) + lines[number][len(content) :]
            blanked.append(number + 1)
    return "".join(lines)


def parses(text: str) -> bool:
    """Whether a text is Python as a whole."""
    try:
        _parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings(), _uncollected():
        warnings.simplefilter("ignore")
        return ast.parse(text)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without collections of garbage. One of them may let another thread parse in the middle of this, and Python counts the
    depth of all trees together: "AST constructor recursion depth mismatch"."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


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
