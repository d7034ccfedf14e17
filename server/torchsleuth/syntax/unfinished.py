"""Whether a text is one that was analysed before with a statement that is being typed: what was found elsewhere holds."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from torchsleuth.syntax.parse import parse_with_errors
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.trees import captured

Unfinished = Literal["same", "broken", "unbound"]
"""What a change of a text amounts to that gives an analysis nothing new.

same: only space, comments or docstrings. broken: one statement does not parse. unbound: one statement reads a name that
nothing binds, or an attribute that nothing is known to have, as the first letters of another.
"""
_TOLD_BY_COMMENTS = re.compile(r"#.*[\[(]|#.*\b(torchsleuth|noqa|type)\b")
"""Comments that say something: shapes, and what not to report."""
MAX_TEXT = 200_000
"""Characters of the longest text that is looked at, as the editor waits for it."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")
_BUILTINS = frozenset((*dir(builtins), "__file__", "__name__", "__doc__", "__path__", "get_ipython", "display"))


class Analysed:
    """A text that was analysed. `whole`: with all that there is to say of it, its fixes too. `attributes`: those of the
    installed libraries; empty where they are not known."""

    def __init__(self, source: SourceText, attributes: frozenset[str] = frozenset()) -> None:
        self.whole = False
        self._attributes = attributes
        self._source = source
        self._lines = _LINE_END.split(source.text)

    def unfinished(self, text: str) -> Unfinished | None:
        """What the change to `text` amounts to, None where it is to be analysed."""
        if len(text) > MAX_TEXT:
            return None
        lines = _LINE_END.split(text)
        change = _changed(self._lines, lines)
        if change is None or any(map(_TOLD_BY_COMMENTS.search, change.lines(self._lines, lines))):
            return None
        around = self._around(change)
        start = min((change.first, *map(_first, around)))
        end = max((change.old_last, *map(_last, around))) + change.shift
        part = "\n" * (start - 1) + "\n".join(lines[start - 1 : end])
        tree, blanked = parse_with_errors(SourceText(self._source.path, part))
        old, new = _different(around, tree.body, change)
        old, new = [[part for part in side if not _says_nothing(part)] for side in (old, new)]
        if not old and not new:
            return "same"
        if sum(_first(part) <= change.old_last and _last(part) >= change.first for part in old) > 1:
            return None
        kinds = {self._kind(part, blanked) for part in new}
        if not kinds or None in kinds:
            return None
        return "broken" if "broken" in kinds else "unbound"

    def _around(self, change: _Change) -> list[ast.stmt]:
        """The statements of the module that a change is in, or between: what else it says does not depend on it."""
        body = self._tree.body
        inside = [part for part in body if _first(part) < change.first and change.old_last < _last(part)]
        if inside:
            return inside
        reached = [
            number
            for number, part in enumerate(body)
            if _last(part) >= change.first - 1 and _first(part) <= change.old_last + 1
        ]
        before = sum(_last(part) < change.first for part in body)
        first, last = min((*reached, before)), max((*reached, before - 1))
        return body[max(first - 1, 0) : last + 2]

    def _kind(self, statement: ast.stmt, blanked: Sequence[int]) -> Unfinished | None:
        if isinstance(statement, ast.Pass) and statement.lineno in blanked:
            return "broken"
        if self._bound is None:
            return None
        known = self._bound.union(_bound(statement))
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known:
                return "unbound"
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and self._is_new(node.attr):
                return "unbound"
        return None

    def _is_new(self, attribute: str) -> bool:
        """Whether an attribute is neither one of a library nor a word of this text."""
        return bool(self._attributes) and attribute not in self._attributes and attribute not in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self._source.text))

    @cached_property
    def _tree(self) -> ast.Module:
        return parse_with_errors(self._source)[0]

    @cached_property
    def _bound(self) -> frozenset[str] | None:
        """Every name that is bound somewhere, None where it may be any."""
        names = frozenset(_bound(self._tree))
        return None if "*" in names else names | _BUILTINS


@dataclass(frozen=True)
class _Change:
    """The lines from `first` to `old_last` became those from `first` to `new_last`; none, where last is before first."""

    first: int
    old_last: int
    new_last: int

    @property
    def shift(self) -> int:
        return self.new_last - self.old_last

    def lines(self, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
        yield from old[self.first - 1 : self.old_last]
        yield from new[self.first - 1 : self.new_last]

    def outside(self, old: ast.stmt, new: ast.stmt) -> bool:
        """Whether two statements are one that the change does not reach."""
        if type(old) is not type(new):
            return False
        if _last(old) < self.first:
            shift = 0
        elif _first(old) > self.old_last:
            shift = self.shift
        else:
            return False
        place = _first(old) + shift, old.lineno + shift, old.col_offset, _last(old) + shift, old.end_col_offset
        return place == (_first(new), new.lineno, new.col_offset, _last(new), new.end_col_offset)


def _changed(old: Sequence[str], new: Sequence[str]) -> _Change | None:
    shorter = min(len(old), len(new))
    head = next((number for number in range(shorter) if old[number] != new[number]), shorter)
    rest = shorter - head
    tail = next((number for number in range(rest) if old[-1 - number] != new[-1 - number]), rest)
    change = _Change(head + 1, len(old) - tail, len(new) - tail)
    return None if max(change.old_last, change.new_last) <= head else change


def _different(
    old: Sequence[ast.stmt], new: Sequence[ast.stmt], change: _Change
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements of two blocks that a change made different, as far inside as possible."""
    shorter = min(len(old), len(new))
    head = next((number for number in range(shorter) if not change.outside(old[number], new[number])), shorter)
    rest = shorter - head
    tail = next((number for number in range(rest) if not change.outside(old[-1 - number], new[-1 - number])), rest)
    before, after = list(old[head : len(old) - tail]), list(new[head : len(new) - tail])
    if len(before) == len(after) == 1 and _head(before[0]) == _head(after[0]) != []:
        pairs = [
            _different(one, other, change) for one, other in zip(_blocks(before[0]), _blocks(after[0]), strict=True)
        ]
        inside = [pair for pair in pairs if pair != ([], [])]
        if len(inside) < 2:
            return inside[0] if inside else ([], [])
    if len(before) == len(after) and list(map(_written, before)) == list(map(_written, after)):
        return [], []  # only what stands beside them changed
    return before, after


def _written(statement: ast.stmt) -> str:
    return ast.dump(statement, include_attributes=True)


def _head(statement: ast.AST) -> list[str]:
    """What a compound statement says but for its bodies, empty for a simple one."""
    said = [type(statement).__name__] if hasattr(statement, "body") else []
    for name, value in ast.iter_fields(statement) if said else ():
        for part in value if isinstance(value, list) else [value]:
            if name not in _BLOCKS:
                said.append(ast.dump(part) if isinstance(part, ast.AST) else repr(part))
            elif isinstance(part, ast.stmt):
                said.append(name)
                break
            else:
                said += _head(part)
    return said


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies of a compound statement, in order."""
    parts = [getattr(statement, name, []) for name in _BLOCKS]
    blocks = []
    for part in parts:
        if part and isinstance(part[0], ast.stmt):
            blocks.append(part)
        else:
            blocks += [inner.body for inner in part]
    return blocks


def _says_nothing(statement: ast.stmt) -> bool:
    """A docstring, or a constant that stands alone."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _last(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names that are bound anywhere in a tree; ``*`` for an import of all names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif name := captured(node):
            yield name
