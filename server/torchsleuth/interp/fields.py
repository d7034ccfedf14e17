"""The fields of a configuration that code reads, also where it is kept in an attribute or passed on to other classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.calls import arguments
from torchsleuth.syntax.forms import is_name, is_text, nodes_in
from torchsleuth.values import ClassValue, Function

MAX_DEPTH = 4
"""Classes and functions to which a configuration is passed on, one from the other."""
_WORD = re.compile(r"\['([\w-]+)'\]|(\w+)")


@dataclass
class Fields:
    """The fields that are read, as the code says them: ``heads.size``, ``heads['size']``. `containers`: those that are gone through or looked into. `readers`: the code that
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
    found.paths -= {holder(path) for path in found.paths}
    return found


def words(path: str) -> list[tuple[str, bool]]:
    """The names and keys of a path, and whether each is a key."""
    return [(key or name, bool(key)) for key, name in _WORD.findall(path)]


def last_word(path: str) -> str:
    """The name or key of a field itself."""
    return words(path)[-1][0]


def holder(path: str) -> str:
    """The path of the object that has a field, empty for the configuration."""
    return path[: [found.start() for found in _WORD.finditer(path)][-1]].rstrip(".")


def _read(owner: ClassValue | None, function: Function, name: str, found: Fields, depth: int) -> None:
    root = function.node if owner is None else owner.node
    if root in found.readers or depth > MAX_DEPTH:
        return
    found.readers.append(root)
    chains = {node: path for node in nodes_in(root, ast.Attribute, ast.Subscript) if (path := _path(node, name))}
    inner = {node.value for node in chains}
    called = {node.func for node in nodes_in(root, ast.Call)}
    for node, path in chains.items():
        told = holder(path) if node in called else path
        if node not in inner and told:
            found.paths.add(told)
    gone = [node.value for node in nodes_in(root, ast.Subscript) if node not in chains] + [
        node.iter for node in nodes_in(root, ast.For)
    ]
    gone += [node.iter for node in nodes_in(root, ast.comprehension)] + [
        node.value for node in nodes_in(root, ast.Starred)
    ]
    found.containers.update(chains[node] for node in of_kind(gone, ast.Attribute) if node in chains)
    for other, inside, called_there in _passed_on(root, function, name):
        _read(other, inside, called_there, found, depth + 1)


def _path(node: ast.expr, name: str) -> str:
    """``heads.size`` of ``name.heads.size`` and ``self.name.heads.size``; empty for what is read of something else."""
    found: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=value, attr=attribute):
                found.insert(0, f".{attribute}")
            case ast.Subscript(value=value, slice=key) if is_text(key) and re.fullmatch(r"[\w-]+", key.value):
                found.insert(0, f"['{key.value}']")
            case _:
                break
        node = value
    if is_name(node, name):
        return "".join(found).removeprefix(".")
    return "".join(found[1:]).removeprefix(".") if isinstance(node, ast.Name) and found[:1] == [f".{name}"] else ""


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


__all__ = ["Fields", "fields", "holder", "last_word", "words"]
