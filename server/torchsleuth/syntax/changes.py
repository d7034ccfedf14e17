"""Attributes of objects that their methods change: assigned, written into, or filled by a method such as ``append``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from torchsleuth.syntax.forms import by_position, is_definition, is_dotted, is_method_call, nodes_in, stores

FILLS = frozenset("append appendleft extend insert add update setdefault pop popleft popitem clear remove".split())
"""Methods that change the container that they are called on."""


def changed_attributes(methods: Mapping[str, ast.AST], part: str | None = None) -> tuple[set[str], set[str]]:
    """The attributes of the object that methods bind anew, and those whose containers they change.

    `methods`: by name. The constructor, and what it calls, make the object and change nothing of it.
    `part`: those of the object that it holds as this attribute, instead.
    """

    def is_of_it(node: ast.expr, receiver: str) -> TypeGuard[ast.Attribute]:
        if part is None or not isinstance(node, ast.Attribute):
            return is_dotted(node, receiver)
        return is_dotted(node.value, receiver) and node.value.attr == part

    making = _called_from("__init__", methods)
    bound: set[str] = set()
    filled: set[str] = set()
    for name, method in methods.items():
        receiver = _receiver(method)
        if name in making or receiver is None:
            continue
        for node in nodes_in(method, ast.Attribute):
            if stores(node) and is_of_it(node, receiver):
                bound.add(node.attr)
        filled.update(target.attr for target in containers_changed(method) if is_of_it(target, receiver))
    return bound, filled


def containers_changed(function: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose containers a function changes: ``x`` of ``x.append(…)``, ``x[…] = …`` and ``x[…].append(…)``."""
    for node in ast.walk(function):
        if is_method_call(node, *FILLS):
            target: ast.expr = node.func.value
        elif isinstance(node, ast.Subscript) and stores(node):
            target = node.value
        else:
            continue
        while isinstance(target, ast.Subscript):
            target = target.value
        yield target


def _receiver(method: ast.AST) -> str | None:
    names = by_position(method.args) if is_definition(method) else []
    return names[0].arg if names else None


def _called_from(name: str, methods: Mapping[str, ast.AST]) -> set[str]:
    """A method, and those of the same object that it calls."""
    found, pending = set[str](), [name]
    while pending:
        name = pending.pop()
        if name in methods and name not in found:
            found.add(name)
            receiver = _receiver(methods[name])
            calls = (node.func for node in nodes_in(methods[name], ast.Call))
            pending += (node.attr for node in calls if isinstance(node, ast.Attribute) and is_dotted(node, receiver))
    return found


__all__ = ["FILLS", "changed_attributes", "containers_changed"]
