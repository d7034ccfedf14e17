"""Parameters that nobody passes, by where the code passes them on: a number of a layer's, a size of a view."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from torchsleuth.interp.trace import Operation
from torchsleuth.tensors.spec import Native, Parameter
from torchsleuth.values import ClassValue, Function, ListValue, Tensor, Value

Signature = Callable[[str], tuple[Parameter, ...] | None]
_SIZED = frozenset("view reshape expand repeat unflatten new_zeros new_ones new_empty zeros ones empty randn".split())
"""Operators whose arguments after the first, or all of them, are sizes."""
_MAKING = frozenset("zeros ones empty randn".split())


def numbers(owner: ClassValue, made: Function, signature: Signature) -> frozenset[str]:
    """The parameters of a constructor that the class passes, itself or as an attribute, where a function or layer of a library
    has a float by default."""
    own = {argument.arg for argument in (*made.node.args.args, *made.node.args.kwonlyargs)}
    attributes = dict(_kept(made.node, own))
    found: set[str] = set()
    for node in ast.walk(owner.node):
        path = _path(node.func, made) if isinstance(node, ast.Call) else ""
        parameters = signature(path) if path else None
        if not isinstance(node, ast.Call) or parameters is None:
            continue
        named = {one.name: one for one in parameters}
        pairs = [*zip(node.args, parameters), *((one.value, named.get(one.arg or "")) for one in node.keywords)]
        for given, parameter in pairs:
            if parameter is not None and parameter.type == "float":
                found.add(attributes.get(ast.unparse(given), ast.unparse(given)))
    return frozenset(found & own)


def _kept(function: ast.AST, names: set[str]) -> Iterator[tuple[str, str]]:
    """The attributes that parameters are kept in."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in names:
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield ast.unparse(target), node.value.id


def _path(callee: ast.expr, function: Function) -> str:
    """The dotted name of what is called, where it is a library's; empty for anything else."""
    names: list[str] = []
    while isinstance(callee, ast.Attribute):
        names.insert(0, callee.attr)
        callee = callee.value
    owner = function.globals.get(callee.id) if isinstance(callee, ast.Name) else None
    return ".".join((owner.path, *names)) if isinstance(owner, Native) else ""


def sizes(operations: Iterable[Operation]) -> Iterator[Tensor]:
    """Tensors that are passed to an operator in the place of a size."""
    for operation in operations:
        name = operation.target.rpartition(".")[2]
        if operation.module is None and name in _SIZED:
            for value in operation.args[0 if name in _MAKING else 1 :]:
                yield from _tensors(value)


def _tensors(value: Value) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    items = value.items if isinstance(value, ListValue) else value
    if isinstance(items, tuple):
        for item in items:
            yield from _tensors(item)


__all__ = ["numbers", "sizes"]
