"""The fields of a configuration that code reads, also where it is kept in an attribute or passed on to other classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.calls import arguments
from torchsleuth.syntax.forms import is_name, nodes_in
from torchsleuth.values import ClassValue, Function

MAX_DEPTH = 4
"""Classes and functions to which a configuration is passed on, one from the other."""


@dataclass
class Fields:
    """The fields that are read, as dotted paths. `containers`: those that are gone through or looked into. `readers`: the code that
    reads them."""

    paths: set[str] = field(default_factory=set)
    containers: set[str] = field(default_factory=set)
    readers: list[ast.AST] = field(default_factory=list)

    @property
    def ordered(self) -> tuple[str, ...]:
        return tuple(sorted(self.paths))


def fields(owner: ClassValue | None, function: Function, name: str) -> Fields:
    """The fields of a parameter that a class or a function reads, and those to which it passes the parameter."""
    found = Fields()
    _read(owner, function, name, found, 0)
    inner = {path.rpartition(".")[0] for path in found.paths}
    found.paths -= inner
    return found


def _read(owner: ClassValue | None, function: Function, name: str, found: Fields, depth: int) -> None:
    root = function.node if owner is None else owner.node
    if root in found.readers or depth > MAX_DEPTH:
        return
    found.readers.append(root)
    chains = {node: path for node in nodes_in(root, ast.Attribute) if (path := _path(node, name))}
    inner = {node.value for node in chains}
    called = {node.func for node in nodes_in(root, ast.Call)}
    for node, path in chains.items():
        told = path.rpartition(".")[0] if node in called else path
        if node not in inner and told:
            found.paths.add(told)
    gone = [node.value for node in nodes_in(root, ast.Subscript)] + [node.iter for node in nodes_in(root, ast.For)]
    gone += [node.iter for node in nodes_in(root, ast.comprehension)] + [
        node.value for node in nodes_in(root, ast.Starred)
    ]
    found.containers.update(chains[node] for node in of_kind(gone, ast.Attribute) if node in chains)
    for other, inside, called_there in _passed_on(root, function, name):
        _read(other, inside, called_there, found, depth + 1)


def _path(node: ast.expr, name: str) -> str:
    """``heads.size`` of ``name.heads.size`` and ``self.name.heads.size``; empty for what is read of something else."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.insert(0, node.attr)
        node = node.value
    if is_name(node, name):
        return ".".join(words)
    return ".".join(words[1:]) if isinstance(node, ast.Name) and words[:1] == [name] else ""


def _passed_on(root: ast.AST, function: Function, name: str) -> Iterator[tuple[ClassValue | None, Function, str]]:
    """The classes and functions that get the object itself, and what they call it."""
    for node in nodes_in(root, ast.Call):
        called = function.globals.get(node.func.id) if isinstance(node.func, ast.Name) else None
        owner = as_kind(called, ClassValue)
        inside = as_kind(owner.slots.get("__init__") if owner is not None else called, Function)
        if inside is not None and not isinstance(inside.node, ast.Lambda):
            names = [argument.arg for argument in inside.node.args.args[0 if owner is None else 1 :]]
            for parameter, given in arguments(node, names).items():
                if ast.unparse(given) in (name, f"self.{name}"):
                    yield owner, inside, parameter


__all__ = ["Fields", "fields"]
