"""Which class or function a name in a text stands for, as far as the text itself tells: the definition, a call of it, a call of a
variable or an attribute that one was put into, or what is imported from another module."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from torchsleuth.schema import Position
from torchsleuth.sifting import any_are, first_of, of_kind, only
from torchsleuth.syntax.forms import is_attribute, is_display, is_dotted, is_function, is_name, last_word
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText

_LISTS = frozenset({"ModuleList", "Sequential", "list", "tuple"})
"""Containers of several modules, by their last names."""


@dataclass(frozen=True)
class Referred:
    """A class or function by its name in the text that defines it: in this one, or in the `module` that it is imported from.
    `defined`: it is its definition."""

    name: str
    module: str | None = None
    defined: bool = False


def is_called(path: str, module: str) -> bool:
    """Whether a file may be the module that an import names."""
    file = PurePath(path)
    parts = file.parent.parts if file.stem == "__init__" else (*file.parent.parts, file.stem)
    wanted = tuple(module.split("."))
    return bool(module) and parts[-len(wanted) :] == wanted


def imported(source: SourceText) -> list[Referred]:
    """The names of other modules that a text imports or reads, whatever they stand for there."""
    tree = parse(source)
    names = _Names(tree)
    found = [Referred(one.name, one.module) for one in names.known() if one.module]
    for node in ast.walk(tree):
        if is_dotted(node) and node.value.id in names.modules:
            found.append(Referred(node.attr, names.modules[node.value.id]))
    return list(dict.fromkeys(found))


def file_of(module: str, path: str, roots: Iterable[str]) -> str | None:
    """The file of a module that a file imports: beside it or above it in the folders of the workspace, or in one of these."""
    folders = list(map(Path, roots))
    beside = Path(path).parent
    above = [folder for folder in beside.parents if any(folder.is_relative_to(root) for root in folders)]
    for folder in (beside, *above, *folders):
        bare = folder.joinpath(*module.split("."))
        for file in (bare.with_name(f"{bare.name}.py"), bare / "__init__.py"):
            with contextlib.suppress(OSError, ValueError):  # of names that no file can have
                if module and file.is_file():
                    return str(file)
    return None


def referred(source: SourceText, position: Position) -> Referred | None:
    """The class or function that the name at a position stands for; None for anything else."""
    tree = parse(source)
    around = [node for node in _around(tree, source, position)]
    if not around:
        return None
    names = _Names(tree)
    node, outer = around[-1], around[:-1]
    cls = first_of(reversed(around), ast.ClassDef)
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        if not _in_name(node, source, position):
            return None
        if is_function(node, "forward") and outer and outer[-1] is cls and cls is not None:
            return Referred(cls.name, defined=True)
        at_top = not any_are(outer, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        return Referred(node.name, defined=True) if at_top else None
    called = bool(outer) and isinstance(outer[-1], ast.Call) and outer[-1].func is node
    match node:
        case ast.Name():
            found = names.named(node.id)
            if found is None and called:
                scope = first_of(reversed(outer), ast.FunctionDef) or tree
                found = names.held(node.id, scope, cls) or names.held(node.id, tree, None)
            return found
        case ast.Attribute() if position >= source.end_of(node.value):
            if is_name(node.value, *names.modules):
                return Referred(node.attr, names.modules[node.value.id])
            if called and cls is not None and is_name(node.value, "self"):
                return names.of_attribute(node.attr, cls)
    return None


class _Names:
    """The names of the top level that stand for classes, functions and modules."""

    def __init__(self, tree: ast.Module) -> None:
        self._known: dict[str, Referred] = {}
        self.modules: dict[str, str] = {}
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom():
                    for alias in node.names:
                        name = alias.asname or alias.name
                        self._known[name] = Referred(alias.name, node.module or "")
                        self.modules[name] = f"{node.module}.{alias.name}" if node.module else alias.name
                case ast.Import():
                    for alias in node.names:
                        if alias.asname or "." not in alias.name:
                            self.modules[alias.asname or alias.name] = alias.name
        for node in of_kind(_statements(tree), ast.ClassDef, ast.FunctionDef):
            self._known[node.name] = Referred(node.name)

    def known(self) -> Iterable[Referred]:
        return self._known.values()

    def named(self, name: str) -> Referred | None:
        return self._known.get(name)

    def made_by(self, node: ast.expr | None, inside: bool = False) -> Referred | None:
        """The class of which a call makes an instance; with `inside`, of all the parts that a container is made with."""
        if isinstance(node, ast.Call):
            last = last_word(node.func)
            if inside and last in _LISTS:
                return self._all_made_by([_element(argument) for argument in node.args])
            if inside:
                return None
            if isinstance(node.func, ast.Name):
                return self.named(node.func.id)
            if is_dotted(node.func):
                module = self.modules.get(node.func.value.id)
                # ``model = UNet(3, 2).to(device)`` is none of a module.
                return Referred(node.func.attr, module) if module is not None else None
            if is_attribute(node.func, "to", "cuda", "eval", "train", "half", "float"):
                return self.made_by(node.func.value)
            return None
        return self._all_made_by([_element(node)]) if inside and node is not None else None

    def _all_made_by(self, parts: list[list[ast.expr]]) -> Referred | None:
        found = {self.made_by(part) for group in parts for part in group}
        return only(found)

    def of_attribute(self, name: str, cls: ast.ClassDef, inside: bool = False) -> Referred | None:
        """The class of what is put into ``self.name``, where it is always the same."""
        found: set[Referred | None] = set()
        for node in ast.walk(cls):
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            if any(_is_of_self(target, name) for target in targets):
                found.add(self.made_by(node.value, inside))  # type: ignore[attr-defined]
        return only(found)

    def held(self, name: str, scope: ast.AST, cls: ast.ClassDef | None) -> Referred | None:
        """The class of what a variable holds, where it is always the same: what is put into it, or goes through the parts of."""
        found: set[Referred | None] = set()
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and any(is_name(target, name) for target in node.targets):
                found.add(self.made_by(node.value))
            elif isinstance(node, ast.For | ast.comprehension) and is_name(node.target, name):
                over = node.iter
                attribute = over.attr if isinstance(over, ast.Attribute) and _is_of_self(over, over.attr) else None
                known = self.of_attribute(attribute, cls, inside=True) if attribute and cls is not None else None
                found.add(known or self.made_by(over, inside=True))
        return only(found)


def _element(node: ast.expr) -> list[ast.expr]:
    """The expressions that the elements of a list are."""
    match node:
        case ast.Starred():
            return _element(node.value)
        case ast.ListComp() | ast.GeneratorExp():
            return [node.elt]
    return node.elts if is_display(node) else [node]


def _is_of_self(node: ast.expr, name: str) -> bool:
    return is_attribute(node, name) and is_name(node.value, "self")


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Those of the top level, and what conditions and the like hold there."""
    waiting: list[ast.stmt] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            waiting += of_kind(ast.iter_child_nodes(node), ast.stmt)


def _around(tree: ast.Module, source: SourceText, position: Position) -> Iterator[ast.AST]:
    """The nodes that a position is in, the outermost first."""
    node: ast.AST | None = tree
    while node is not None:
        inner = None
        for child in _children(node):
            if source.start_of(child) <= position <= source.end_of(child):
                inner = child
        if inner is not None:
            yield inner
        node = inner


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one that have a place; those of the parts that have none."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _children(child)


def _in_name(node: ast.ClassDef | ast.FunctionDef, source: SourceText, position: Position) -> bool:
    """Whether a position is in the name behind ``class`` or ``def``."""
    start = source.start_of(node)
    word = "class" if isinstance(node, ast.ClassDef) else "def"
    begin = start.column + len(word)
    return position.line == start.line and begin <= position.column <= begin + 1 + len(node.name)


__all__ = ["Referred", "is_called", "referred"]
