"""The classes and functions of a text that may have a contract, and for each a digest of everything in the text that the
contract depends on: as long as that is the same, so is the contract, wherever it stands."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.calls import Called, calls, is_main_guard, settled
from torchsleuth.syntax.forms import (
    by_position,
    contains,
    given_to,
    is_definition,
    is_remark,
    last_word,
    nodes_in,
    stores,
)
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText

_REACHING = ("__init_subclass__", "__subclasses__", "globals(", "metaclass", "eval(", "exec(", "sys.modules")
"""Words in texts in which everything may depend on everything."""
_PLAIN_BASES = frozenset({"Module", "object", "ABC", "Function", "Dataset", "NamedTuple", "Enum", "Protocol"})
"""Last names of bases whose classes do nothing when they are made."""


@dataclass(frozen=True)
class Definition:
    """A class with a forward, or a function, of the top level. `function`: what is called; for a class, its forward."""

    node: ast.ClassDef | ast.FunctionDef
    function: ast.FunctionDef
    digest: str

    @property
    def first(self) -> int:
        """The line of the ``class`` or ``def``."""
        return self.node.lineno

    @property
    def last(self) -> int:
        return self.node.end_lineno or self.node.lineno


def definitions(source: SourceText) -> list[Definition]:
    """The classes and functions that may have a contract, in the order of the text."""
    kept = _kept.get(source.path)
    if kept is None or kept[0] != source.text:
        kept = _kept[source.path] = source.text, _definitions(source)
        if len(_kept) > _MAX_KEPT:
            del _kept[next(iter(_kept))]
    return kept[1]


def _definitions(source: SourceText) -> list[Definition]:
    tree = parse(source)
    whole = any(word in source.text for word in _REACHING)
    units = [_Unit(node) for node in tree.body if not is_main_guard(node)]
    lines = re.split(r"\r\n|\r|\n", source.text)
    texts = [_text(unit.node, lines) for unit in units]
    always = [place for place, unit in enumerate(units) if whole or not unit.is_passive]
    makers: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        for name in unit.binds:
            makers.setdefault(name, []).append(place)
    called = calls(tree)
    found: list[Definition] = []
    for place, unit in enumerate(units):
        for node in _candidates(unit.node):
            function = node if isinstance(node, ast.FunctionDef) else _forward(node)
            if function is not None:
                passed = list(_passed(called.get(node.name, ()))) if isinstance(node, ast.ClassDef) else []
                named = [maker for _, names in passed for name in names for maker in makers.get(name, ())]
                reached = _reached([place, *always, *named], units, makers)
                digest = hashlib.sha256(node.name.encode(errors="replace"))
                digest.update(str(node.lineno - unit.node.lineno).encode())
                digest.update("\0".join(text for text, _ in passed).encode(errors="replace"))
                for other in reached:
                    digest.update(b"\0" + texts[other].encode(errors="replace"))
                found.append(Definition(node, function, digest.hexdigest()))
    return found


class _Every:
    """All names."""

    def __contains__(self, name: object) -> bool:
        return True


def _passed(found: Sequence[Called]) -> Iterator[tuple[str, list[str]]]:
    """Arguments of the calls of a class that mean the same in every execution, and the names in them."""
    for call, around in found:
        for given in given_to(call):
            meant = settled(given, around, _Every())
            names = [] if meant is None else [one.id for one in nodes_in(meant, ast.Name)]
            yield "" if meant is None else ast.unparse(meant), names
        yield "; " + ", ".join(one.arg or "" for one in call.keywords), []


class _Unit:
    """A statement of the top level. `binds`, `reads`: the names that it binds, and that it mentions."""

    def __init__(self, node: ast.stmt) -> None:
        self.node = node
        self.binds: set[str] = set()
        self.reads: set[str] = set()
        for part in ast.walk(node):
            match part:
                case ast.Name():
                    self.reads.add(part.id)
                case ast.Global():
                    self.reads.update(part.names)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            self.binds.add(node.name)
        else:
            self.binds |= {
                part.name if isinstance(part, _DEFINITIONS) else part.id
                for part in ast.walk(node)
                if isinstance(part, _DEFINITIONS) or (isinstance(part, ast.Name) and stores(part))
            }

    @property
    def is_passive(self) -> bool:
        """Whether the statement does nothing but define."""
        node = self.node
        if is_definition(node):
            return not node.decorator_list and not contains(node, ast.Global)
        if isinstance(node, ast.ClassDef):
            return not node.decorator_list and not node.keywords and all(map(_is_plain, node.bases))
        return is_remark(node)


_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _is_plain(base: ast.expr) -> bool:
    """Whether a base is one of a library that does nothing when a class of it is made."""
    name = last_word(base)
    return name in _PLAIN_BASES


def _reached(start: Sequence[int], units: Sequence[_Unit], makers: dict[str, list[int]]) -> list[int]:
    """The statements that some depend on, in order: what binds the names in them, and so on."""
    seen, waiting = set(start), list(start)
    while waiting:
        for name in units[waiting.pop()].reads:
            for place in makers.get(name, ()):
                if place not in seen:
                    seen.add(place)
                    waiting.append(place)
    return sorted(seen)


def _candidates(node: ast.stmt) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """The classes and functions that a statement of the top level defines: in an ``if`` or ``try``, those inside."""
    if isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and _parameters(node)):
        yield node
    elif isinstance(node, ast.If | ast.Try | ast.With):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.stmt):
                yield from _candidates(inner)


def _parameters(node: ast.FunctionDef) -> bool:
    """Whether a function has parameters that have to be given."""
    arguments = node.args
    return len(by_position(arguments)) > len(arguments.defaults) or bool(arguments.kwonlyargs)


def _forward(node: ast.ClassDef) -> ast.FunctionDef | None:
    return next((one for one in of_kind(node.body, ast.FunctionDef) if one.name == "forward"), None)


def _text(node: ast.stmt, lines: Sequence[str]) -> str:
    """The lines of a statement, decorators and comments included."""
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return "\n".join(lines[first - 1 : node.end_lineno])


_MAX_KEPT = 32
_kept: dict[str, tuple[str, list[Definition]]] = {}


__all__ = ["Definition", "definitions"]
