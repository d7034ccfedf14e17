"""Which library names a file uses and where, by the imports that are in scope; nothing is imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from torchsleuth.syntax.forms import is_reference, loads, names_in, nodes_in
from torchsleuth.syntax.trees import captured

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_MISSING = frozenset(
    "ImportError ModuleNotFoundError AttributeError RuntimeError TypeError Exception BaseException".split()
)
"""The exceptions that are raised where a library lacks something."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Use:
    """An expression that names something imported: ``nn.Linear`` is ``torch.nn.Linear``. `call`: where it is called.

    `guarded`: under a condition on versions or attributes, or under ``try``, so that it may be meant for another version.
    `imported`: the binding that it was found through.
    """

    path: str
    node: ast.Name | ast.Attribute
    call: ast.Call | None
    guarded: bool
    imported: Imported


@dataclass(frozen=True)
class Imported:
    """One name that an import binds: `name` is short for `path`."""

    path: str
    name: str
    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    guarded: bool


@dataclass(eq=False)
class _Scope:
    node: ast.AST
    outer: _Scope | None
    imports: dict[str, list[Imported]] = field(default_factory=dict)
    others: dict[str, bool] = field(default_factory=dict)
    """Names bound by anything else, and whether all of that stands under a guard."""
    elsewhere: dict[str, _Scope] = field(default_factory=dict)
    """Names declared global or nonlocal."""

    def owner(self, name: str) -> _Scope:
        return self.elsewhere.get(name, self)

    def _visible(self, name: str) -> Iterator[_Scope]:
        """The scopes in which a name that is read here may be bound, innermost first."""
        scope: _Scope | None = self.owner(name)
        while scope is not None:
            if scope is self or not isinstance(scope.node, ast.ClassDef):
                yield scope
            scope = scope.outer

    def find(self, name: str) -> Imported | None:
        """The path that an imported name is short for; None where it may be something else."""
        for scope in self._visible(name):
            bound = scope.imports.get(name)
            if bound and scope.others.get(name, True):
                return bound[0]
            if bound or name in scope.others:
                return None
        return None

    def binds(self, name: str) -> bool:
        """Whether a name that is read here is bound in this scope or one around it."""
        return any(name in scope.imports or name in scope.others for scope in self._visible(name))


class Names:
    """The imports of a tree, the uses of what they bind, and the names that it binds and that it leaves to others."""

    def __init__(self, tree: ast.Module) -> None:
        self._pending: list[tuple[ast.Name | ast.Attribute, str, str, ast.Call | None, bool, _Scope]] = []
        self._module = _Scope(tree, None)
        self.imports: list[Imported] = []
        self._statements(tree.body, self._module, False)
        self.uses = tuple(self._resolved())

    def bound_to(self, path: str) -> str | None:
        """The name by which a package is known in the whole file: ``nn`` for ``torch.nn`` after ``from torch import nn``."""
        for name, bound in self._module.imports.items():
            if bound[0].path == path and self._module.find(name) is bound[0]:
                return name
        return None

    def is_free(self, name: str) -> bool:
        """Whether nothing in the whole file is called so yet."""
        return name not in self._module.imports and name not in self._module.others

    @property
    def bound(self) -> frozenset[str]:
        """The names of the module, ``*`` among them where they may be any."""
        every = ("*",) if any(imported.alias.name == "*" for imported in self.imports) else ()
        return frozenset((*self._module.imports, *self._module.others, *every))

    @property
    def free(self) -> frozenset[str]:
        """The names that are read and that nothing in the tree binds."""
        return frozenset(root for _, root, _, _, _, scope in self._pending if not scope.binds(root))

    def _resolved(self) -> Iterator[Use]:
        for node, root, rest, call, guarded, scope in self._pending:
            imported = scope.find(root)
            if imported is not None:
                yield Use(f"{imported.path}{rest}", node, call, guarded or imported.guarded, imported)

    # -- the walk ----------------------------------------------------------------------------------

    def _statements(self, statements: Iterable[ast.AST], scope: _Scope, guarded: bool) -> None:
        for statement in statements:
            self._visit(statement, scope, guarded)
            # What follows is for the other versions.
            guarded = guarded or (
                isinstance(statement, ast.If) and _about_versions(statement.test) and _leaves(statement)
            )

    def _visit(self, node: ast.AST, scope: _Scope, guarded: bool) -> None:
        if is_reference(node):
            self._expression(node, None, scope, guarded)
        elif isinstance(node, ast.Call):
            self._call(node, scope, guarded)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node, scope, guarded)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            # It changes what is bound elsewhere.
            self._pending.append((node.target, node.target.id, "", None, guarded, scope))
            self._visit(node.value, scope, guarded)
        elif isinstance(node, _SCOPES):
            self._definition(node, scope, guarded)
        elif isinstance(node, _COMPREHENSIONS):
            inner = _Scope(node, scope)
            for part in ast.iter_child_nodes(node):
                self._visit(part, inner, guarded)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            for name in node.names:
                scope.elsewhere[name] = self._module if isinstance(node, ast.Global) else scope.outer or scope
        elif isinstance(node, ast.Try):
            self._children(node, scope, guarded or any(map(_catches, node.handlers)))
        elif isinstance(node, ast.If):
            self._visit(node.test, scope, guarded)
            inside = guarded or _about_versions(node.test)
            self._statements(node.body, scope, inside)
            self._statements(node.orelse, scope, inside)
        elif isinstance(node, ast.IfExp):
            self._visit(node.test, scope, guarded)
            inside = guarded or _about_versions(node.test)
            self._visit(node.body, scope, inside)
            self._visit(node.orelse, scope, inside)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                self._visit(value, scope, guarded)
                guarded = guarded or _about_versions(value)
        else:
            if (bound := captured(node)) is not None:
                self._bind(bound, scope, guarded)
            self._children(node, scope, guarded)

    def _children(self, node: ast.AST, scope: _Scope, guarded: bool) -> None:
        for part in ast.iter_child_nodes(node):
            self._visit(part, scope, guarded)

    def _call(self, node: ast.Call, scope: _Scope, guarded: bool) -> None:
        if is_reference(node.func):
            self._expression(node.func, node, scope, guarded)
        else:
            self._visit(node.func, scope, guarded)
        for part in (*node.args, *node.keywords):
            self._visit(part, scope, guarded)

    def _expression(self, node: ast.Name | ast.Attribute, call: ast.Call | None, scope: _Scope, guarded: bool) -> None:
        """A name with attributes; in front of them there may be any other expression."""
        attributes: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            attributes.append(root.attr)
            root = root.value
        if not isinstance(root, ast.Name):
            self._visit(root, scope, guarded)
        elif loads(root):
            rest = "".join(f".{name}" for name in reversed(attributes))
            self._pending.append((node, root.id, rest, call, guarded, scope))
        else:
            self._bind(root.id, scope, guarded)

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda, scope: _Scope, guarded: bool
    ) -> None:
        inner = _Scope(node, scope)
        if not isinstance(node, ast.Lambda):
            self._bind(node.name, scope, guarded)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for argument in nodes_in(node.args, ast.arg):
                self._bind(argument.arg, inner, False)
        body: list[Any] = node.body if isinstance(node.body, list) else [node.body]
        inside = {id(part) for part in body}
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.arguments):
                self._children(part, scope, guarded)
            elif id(part) not in inside:
                self._visit(part, scope, guarded)
        self._statements(body, inner, guarded)

    def _bind(self, name: str, scope: _Scope, guarded: bool) -> None:
        owner = scope.owner(name)
        owner.others[name] = owner.others.get(name, True) and guarded

    def _import(self, node: ast.Import | ast.ImportFrom, scope: _Scope, guarded: bool) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                name = alias.asname or alias.name
                path = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            else:
                name = alias.asname or alias.name.partition(".")[0]
                path = alias.name if alias.asname else name
            imported = Imported(path, name, node, alias, guarded)
            self.imports.append(imported)
            if alias.name != "*":
                scope.owner(name).imports.setdefault(name, []).append(imported)


def imported_from(path: str, text: str, others: Mapping[str, str]) -> list[str]:
    """Of other files, those that a file seems to import, directly or through one another, by the names of modules."""
    found: list[str] = []
    waiting = [text]
    while waiting:
        importing = waiting.pop()
        for other, other_text in others.items():
            if other != path and other not in found and mentions(importing, other):
                found.append(other)
                waiting.append(other_text)
    return found


def mentions(text: str, path: str) -> bool:
    """Whether a line of a text imports something called like the module at `path`."""
    module = PurePath(path)
    name = re.escape(module.parent.name if module.stem == "__init__" else module.stem)
    return re.search(rf"^[ \t]*(?:import|from)\b[^\n#]*\b{name}\b", text, re.MULTILINE) is not None


def _catches(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is there for what is missing, or for everything."""
    types = [] if handler.type is None else list(nodes_in(handler.type, ast.Name))
    return handler.type is None or any(part.id in _MISSING for part in types)


def _leaves(node: ast.If) -> bool:
    """Whether nothing after the statement is executed where its condition holds."""
    return isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _about_versions(test: ast.expr) -> bool:
    """Whether a condition asks what is installed."""
    words = names_in(test)
    words |= {part.attr for part in nodes_in(test, ast.Attribute)}
    return any(word == "hasattr" or "version" in word.lower() or word.isupper() for word in words)
