"""Parameters that nobody passes, by where the code passes them on: a number of a layer's, a size of a view."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.calls import arguments
from torchsleuth.syntax.forms import is_name, nodes_in
from torchsleuth.tensors.spec import Native, Parameter
from torchsleuth.values import ClassValue, Function, Tensor, Value, items_of

MAX_DEPTH = 3
"""Constructors that are followed inside of one another."""
Signature = Callable[[str], tuple[Parameter, ...] | None]
_SIZED = frozenset("view reshape expand repeat unflatten new_zeros new_ones new_empty zeros ones empty randn".split())
"""Operators whose arguments after the first, or all of them, are sizes."""
_MAKING = frozenset("zeros ones empty randn".split())


def numbers(owner: ClassValue, made: Function, signature: Signature, depth: int = 0) -> frozenset[str]:
    """The parameters of a constructor that the class passes, itself or as an attribute, where a function or layer of a library
    has a float by default; also through the constructors of other classes."""
    own = {argument.arg for argument in (*made.node.args.args, *made.node.args.kwonlyargs)}
    attributes = dict(_kept(made.node, own))
    found: set[str] = set()
    for node in nodes_in(owner.node, ast.Call):
        path = library_path(node.func, made)
        parameters = signature(path) if path else None
        names: list[str] = []
        floats: frozenset[str] = frozenset()
        cls = as_kind(made.globals.get(node.func.id), ClassValue) if isinstance(node.func, ast.Name) else None
        inner = as_kind(cls.slots.get("__init__"), Function) if cls is not None and cls is not owner else None
        if parameters is not None:
            names = [one.name for one in parameters]
            floats = frozenset(one.name for one in parameters if one.type == "float")
        elif inner is not None and cls is not None and depth < MAX_DEPTH:
            names = [argument.arg for argument in inner.node.args.args[1:]]
            floats = numbers(cls, inner, signature, depth + 1)
        for name, given in arguments(node, names).items():
            if name in floats:
                found.add(attributes.get(ast.unparse(given), ast.unparse(given)))
    return frozenset(found & own)


def _kept(function: ast.AST, names: set[str]) -> Iterator[tuple[str, str]]:
    """The attributes that parameters are kept in."""
    for node in nodes_in(function, ast.Assign):
        if is_name(node.value, *names):
            for target in of_kind(node.targets, ast.Attribute):
                yield ast.unparse(target), node.value.id


def library_path(callee: ast.expr, function: Function) -> str:
    """The dotted name of what is called, where it is a library's; empty for anything else."""
    names: list[str] = []
    while isinstance(callee, ast.Attribute):
        names.insert(0, callee.attr)
        callee = callee.value
    owner = as_kind(function.globals.get(callee.id), Native) if isinstance(callee, ast.Name) else None
    return ".".join((owner.path, *names)) if owner is not None else ""


def sizes(operations: Iterable[Operation]) -> Iterator[Tensor]:
    """Tensors that are passed to an operator in the place of a size."""
    for operation in operations:
        name = operation.name
        if operation.module is None and name in _SIZED:
            for value in operation.args[0 if name in _MAKING else 1 :]:
                yield from _tensors(value)


def _tensors(value: Value) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    items = items_of(value)
    if items is not None:
        for item in items:
            yield from _tensors(item)


__all__ = ["library_path", "numbers", "sizes"]
