"""Whether a text is one that was analysed before with a statement that is being typed: what was found elsewhere holds."""

from __future__ import annotations

import ast
import builtins
import copy
import keyword
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import first_line, is_name, is_remark, is_text, last_word, loads, nodes_in
from torchsleuth.syntax.names import Names
from torchsleuth.syntax.parse import parse_with_errors
from torchsleuth.syntax.text import SourceText

Unfinished = Literal["same", "broken", "unbound"]
"""The effect of a change of a text that gives an analysis nothing new.

same: only space, comments, docstrings or the words of what is printed. broken: one statement does not parse. unbound: a name
is read that nothing binds, or an attribute that nothing sets or is known to have, as the first letters of another one, or
because the statement that sets it is being typed.
"""
_TOLD_BY_COMMENTS = re.compile(r"#.*[\[(]|#.*\b(torchsleuth|noqa|type)\b")
"""Comments that say something: shapes, and what not to report."""
MAX_TEXT = 200_000
"""Characters of the longest text that is looked at, as the editor waits for it."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")
_SHOWS = frozenset("print debug info warning warn error exception critical set_description set_postfix_str".split())
"""Functions and methods that show their arguments to the user."""
_WORD = re.compile(r"[^\W\d]\w*")
_LONGEST_NAME = 100
"""Characters of a string that may have names of attributes in it."""
_KNOWN = frozenset((*dir(builtins), *keyword.kwlist, *keyword.softkwlist))
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
        """The effect of the change to `text`, None where it is to be analysed."""
        if len(text) > MAX_TEXT:
            return None
        lines = _LINE_END.split(text)
        change = _changed(self._lines, lines)
        if change is None or any(map(_TOLD_BY_COMMENTS.search, change.lines(self._lines, lines))):
            return None
        around = self._around(change)
        start = min((change.first, *map(first_line, around)))
        end = max((change.old_last, *map(_last, around))) + change.shift
        part = "\n" * (start - 1) + "\n".join(lines[start - 1 : end])
        tree, blanked = parse_with_errors(SourceText(self._source.path, part))
        old, new = _different(around, tree.body, change)
        old, new = [[part for part in side if not _says_nothing(part)] for side in (old, new)]
        if not old and not new:
            return "same"
        broken = any(part.lineno in blanked for part in of_kind(new, ast.Pass))
        if broken and sum(first_line(part) <= change.old_last and _last(part) >= change.first for part in old) < 2:
            return "broken"
        if self._changes_into_new_word(change, lines) or self._leaves_unbound(around, tree.body):
            return "unbound"
        return None

    def _changes_into_new_word(self, change: _Change, lines: Sequence[str]) -> bool:
        """Whether a change is one of a single word, and gives one that stands nowhere else and that no library has."""
        if not change.first == change.old_last == change.new_last:
            return False
        old, new = self._lines[change.first - 1], lines[change.first - 1]
        head = len(os.path.commonprefix([old, new]))
        tail = len(os.path.commonprefix([old[head:][::-1], new[head:][::-1]]))
        for match in _WORD.finditer(new):
            if match.start() <= head and len(new) - tail <= match.end():
                word, before = match.group(), old[match.start() : match.end() + len(old) - len(new)]
                known = word in self._words or word in self._attributes or word in _KNOWN
                return before.isidentifier() and not known
        return False

    def _leaves_unbound(self, around: Sequence[ast.stmt], instead: Sequence[ast.stmt]) -> bool:
        """Whether something is read that was bound before, or was not read, where some statements stand instead of others."""
        before = self._mentions
        after = [said for part, said in before.items() if part not in around]
        after += [_Mentions.of(part) for part in instead]
        if any("*" in said.bound for said in after):
            return False
        one, other = _Mentions.together(before.values()), _Mentions.together(after)
        if other.free - other.bound - _BUILTINS - (one.free - one.bound):
            return True
        # A class inherits attributes from others.
        if (one.own_set - other.own_set) & other.own_read:
            return True
        known = self._attributes
        return bool(known) and bool(other.read - other.set - known - (one.read - one.set))

    def _around(self, change: _Change) -> list[ast.stmt]:
        """The statements of the module that a change is in, or between: what else it says does not depend on it."""
        body = self._tree.body
        inside = [part for part in body if first_line(part) < change.first and change.old_last < _last(part)]
        if inside:
            return inside
        reached = [
            number
            for number, part in enumerate(body)
            if _last(part) >= change.first - 1 and first_line(part) <= change.old_last + 1
        ]
        before = sum(_last(part) < change.first for part in body)
        first, last = min((*reached, before)), max((*reached, before - 1))
        return body[max(first - 1, 0) : last + 2]

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self._source.text))

    @cached_property
    def _mentions(self) -> dict[ast.stmt, _Mentions]:
        return {statement: _Mentions.of(statement) for statement in self._tree.body}

    @cached_property
    def _tree(self) -> ast.Module:
        return parse_with_errors(self._source)[0]


@dataclass(frozen=True)
class _Mentions:
    """The names and attributes that statements of a module mention.

    `bound`, `free`: the names that they bind in the module, and that they leave to others. `set`, `read`: attributes, of
    whatever object. `own_set`, `own_read`: attributes of ``self``, with the class.
    """

    bound: frozenset[str]
    free: frozenset[str]
    set: frozenset[str]
    read: frozenset[str]
    own_set: frozenset[tuple[str, str]]
    own_read: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, statement: ast.stmt) -> _Mentions:
        names = Names(ast.Module([statement], []))
        bound, read = set(_attributes_set(statement)), set(_attributes_read(statement))
        own_set: set[tuple[str, str]] = set()
        own_read: set[tuple[str, str]] = set()
        for node in nodes_in(statement, ast.ClassDef):
            own_set |= {(node.name, name) for name in _attributes_set(node)}
            own_read |= {(node.name, name) for name in _attributes_read(node, "self")}
        return cls(names.bound, names.free, frozenset(bound), frozenset(read), frozenset(own_set), frozenset(own_read))

    @classmethod
    def together(cls, parts: Iterable[_Mentions]) -> _Mentions:
        parts = list(parts)
        return cls(*(frozenset().union(*(getattr(part, name) for part in parts)) for name in cls.__annotations__))


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
        elif first_line(old) > self.old_last:
            shift = self.shift
        else:
            return False
        place = first_line(old) + shift, old.lineno + shift, old.col_offset, _last(old) + shift, old.end_col_offset
        return place == (first_line(new), new.lineno, new.col_offset, _last(new), new.end_col_offset)


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
    """A statement without its places and the words that are only shown."""
    return ast.dump(_Muted().visit(copy.deepcopy(statement)))


class _Muted(ast.NodeTransformer):
    """Takes out the words of what is printed, raised or logged; not the formats of values."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = last_word(node.func)
        if name in _SHOWS:
            node.args = [_muted(part) for part in node.args]
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call):
            node.exc.args = [_muted(part) for part in node.exc.args]
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        if node.msg is not None:
            node.msg = _muted(node.msg)
        return self.generic_visit(node)


def _muted(shown: ast.expr) -> ast.expr:
    if isinstance(shown, ast.JoinedStr):
        return ast.JoinedStr([part for part in shown.values if not isinstance(part, ast.Constant)])
    return ast.Constant("") if is_text(shown) else shown


def _head(statement: ast.AST) -> list[str]:
    """A compound statement but for its bodies, empty for a simple one."""
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
    return is_remark(statement)


def _last(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _attributes_set(tree: ast.AST) -> Iterator[str]:
    """The attributes that are set in a tree: by a statement, in the body of a class, by a keyword, or by their name."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute() if not loads(node):
                yield node.attr
            case ast.ClassDef():
                yield from Names(ast.Module(node.body, [])).bound
            case ast.keyword() if node.arg is not None:
                yield node.arg
            case _ if is_text(node) and len(node.value) <= _LONGEST_NAME:
                yield from _WORD.findall(node.value.replace("-", "_"))


def _attributes_read(tree: ast.AST, owner: str | None = None) -> Iterator[str]:
    """The attributes that are read in a tree; of a variable, where one is given."""
    for node in nodes_in(tree, ast.Attribute):
        if loads(node):
            if owner is None or is_name(node.value, owner):
                yield node.attr
