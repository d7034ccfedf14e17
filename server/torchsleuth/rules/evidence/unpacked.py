"""The sizes of a tensor by the names that its shape was unpacked into: ``b, t, c = x.shape``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    is_display,
    is_method_call,
    is_reference,
    loads,
    nodes_in,
    targets_of,
)

_VIEWS = ("view", "reshape")


@dataclass(frozen=True)
class Cut:
    """A view of a tensor to its own sizes in another order."""

    view: ast.Call
    tensor: ast.expr
    sizes: list[str]
    order: list[str]


def is_shape(node: ast.expr) -> bool:
    """Whether an expression is the whole shape of something."""
    if isinstance(node, ast.Attribute):
        return node.attr == "shape"
    return is_method_call(node, "size") and not node.args


def cut_in_other_order(function: ast.FunctionDef) -> Iterator[Cut]:
    """The views in a function to the sizes that the same tensor has, in another order; not those that another one undoes."""
    unpackings = [
        one for one in nodes_in(function, ast.Assign) if isinstance(one.targets[0], ast.Tuple) and is_shape(one.value)
    ]
    views = [call for call in nodes_in(function, ast.Call) if is_method_call(call, *_VIEWS)] if unpackings else []
    orders = [_order(view) for view in views]
    for view, order in zip(views, orders):
        tensor = view.func.value if isinstance(view.func, ast.Attribute) else view
        before = [one for one in unpackings if one.lineno < view.lineno]
        sizes = _sizes_of(before[-1], tensor) if before else []
        if sizes and sorted(order) == sorted(sizes) and order != sizes and sizes not in orders:
            if not _are_changed(function, before[-1], view, {ast.unparse(tensor), *sizes}):
                yield Cut(view, tensor, sizes, order)


_MAKES = frozenset("zeros ones empty full rand randn randint normal standard_normal uniform random integers".split())


def made_in_other_order(scope: ast.Module | ast.FunctionDef) -> Iterator[Cut]:
    """The views of an array to the sizes that it was made with, in another order: ``x = np.zeros((n, t, c))``, ``x.reshape(n, c, t)``."""
    inner = {id(part) for one in nodes_in(scope, ast.FunctionDef) if one is not scope for part in ast.walk(one)}
    statements = [one for one in nodes_in(scope, ast.Assign) if id(one) not in inner]
    stored = [part.id for part in nodes_in(scope, ast.Name) if not loads(part)]
    made = {one.targets[0].id: _sizes_given(one.value) for one in statements if isinstance(one.targets[0], ast.Name)}
    views = [one for one in nodes_in(scope, ast.Call) if is_method_call(one, *_VIEWS) and id(one) not in inner]
    orders = [_order(view) for view in views]
    for view, order in zip(views, orders):
        tensor = view.func.value if isinstance(view.func, ast.Attribute) else view
        sizes = made.get(tensor.id, []) if isinstance(tensor, ast.Name) else []
        once = isinstance(tensor, ast.Name) and all(stored.count(name) == 1 for name in (tensor.id, *sizes))
        if once and len(sizes) > 2 and sorted(order) == sorted(sizes) and order != sizes and sizes not in orders:
            yield Cut(view, tensor, sizes, order)


def _sizes_given(made: ast.expr) -> list[str]:
    """The names of the sizes that an array is made with; none where they are not all different names."""
    if not isinstance(made, ast.Call) or called(made) not in _MAKES:
        return []
    sizes = argument_of(made, None, "size", "shape")
    sizes = made.args[0] if sizes is None and made.args and is_display(made.args[0]) else sizes
    parts = sizes.elts if is_display(sizes) else list(made.args) if sizes is None else []
    names = [part.id for part in of_kind(parts, ast.Name)]
    return names if len(set(names)) == len(parts) else []


def _order(view: ast.Call) -> list[str]:
    """The names that a tensor is viewed by."""
    given = view.args[0].elts if len(view.args) == 1 and is_display(view.args[0]) else view.args
    return [part.id if isinstance(part, ast.Name) else "" for part in given]


def _sizes_of(unpacking: ast.Assign, tensor: ast.expr) -> list[str]:
    """The names of all the sizes of a tensor; none where they are those of something else."""
    value, target = unpacking.value, unpacking.targets[0]
    function = value.func if isinstance(value, ast.Call) else value
    owner = function.value if isinstance(function, ast.Attribute) else None
    if owner is None or not is_reference(owner) or ast.unparse(owner) != ast.unparse(tensor):
        return []
    parts = target.elts if isinstance(target, ast.Tuple) else []
    names = [part.id for part in of_kind(parts, ast.Name)]
    return names if len(set(names)) == len(parts) > 1 else []


def _are_changed(function: ast.FunctionDef, unpacking: ast.Assign, view: ast.Call, texts: set[str]) -> bool:
    """Whether something gets another value between two places of a function."""
    between = (one for one in nodes_in(function, ast.stmt) if unpacking.lineno < one.lineno < view.lineno)
    changed = (
        part for one in between for target in targets_of(one) for part in nodes_in(target, ast.Name, ast.Attribute)
    )
    return any(ast.unparse(part) in texts for part in changed)
