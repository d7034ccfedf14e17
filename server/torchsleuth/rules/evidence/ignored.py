"""Labels that are to be left out: a negative number that a script fills them with, tells apart by a mask, and looks up like the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import (
    called,
    given_to,
    is_display,
    is_method_call,
    is_name,
    nodes_in,
    plain_name,
    targets_of,
)

_FILLS = ("full", "full_like", "new_full", "fill_", "masked_fill", "masked_fill_", "pad", "where", "pad_sequence")
_KEEPS = ("unsqueeze", "view", "reshape", "contiguous", "long", "to", "detach", "clone", "cuda", "flatten")
"""Methods after which a tensor still holds the number."""


def negative(node: ast.AST, tree: ast.AST) -> int | None:
    """The negative integer that an expression is: written, or in a constant of the module."""
    if isinstance(node, ast.Name):
        bound = [
            part for part in nodes_in(tree, ast.Assign) if any(is_name(target, node.id) for target in part.targets)
        ]
        node = bound[0].value if len(bound) == 1 else node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if type(node.operand.value) is int else None
    return None


def told_apart(index: ast.expr, function: ast.AST, tree: ast.AST) -> tuple[ast.Compare, int] | None:
    """The comparison by which a function masks a negative label that is in `index` too: above it, of the same variable, which nothing
    changes in this function."""
    name = plain_name(_whole(index))
    if name is None or isinstance(function, ast.Module) or _is_changed(name, function):
        return None
    for part in nodes_in(function, ast.Compare):
        if is_name(part.left, name) and len(part.ops) == 1 and isinstance(part.ops[0], ast.Eq | ast.NotEq):
            number = negative(part.comparators[0], tree)
            if number is not None and part.lineno <= index.lineno and _is_filled(number, tree):
                return part, number
    return None


def _whole(node: ast.expr) -> ast.expr:
    """``labels`` of ``labels[..., None].long()``"""
    while True:
        if is_method_call(node, *_KEEPS):
            node = node.func.value
        elif isinstance(node, ast.Subscript) and _adds_axis(node):
            node = node.value
        else:
            return node


def _adds_axis(node: ast.expr) -> bool:
    """``labels[..., None]``"""
    parts = node.slice.elts if isinstance(node, ast.Subscript) and is_display(node.slice) else []
    return (
        bool(parts)
        and all(isinstance(part, ast.Constant | ast.Slice) for part in parts)
        and not any(isinstance(part, ast.Slice) and (part.lower or part.upper or part.step) for part in parts)
    )


def _is_changed(name: str, function: ast.AST) -> bool:
    """Whether a function changes some of a variable's elements, or binds it to what is more than a part of a whole."""
    for part in (*nodes_in(function, ast.Assign, ast.AugAssign), *nodes_in(function, ast.AnnAssign)):
        for target in of_kind(targets_of(part), ast.Subscript):
            if name in {word.id for word in nodes_in(target, ast.Name)}:
                return True
        if any(word.id == name and isinstance(word.ctx, ast.Store) for word in nodes_in(part, ast.Name)):
            value = part.value
            if value is None or isinstance(part, ast.AugAssign) or any(True for _ in _changes(value)):
                return True
    return any(
        is_method_call(call) and call.func.attr.endswith("_") and is_name(call.func.value, name)
        for call in nodes_in(function, ast.Call)
    )


def _changes(value: ast.expr) -> Iterator[ast.Call]:
    """Calls in an expression that may give other numbers."""
    yield from (part for part in nodes_in(value, ast.Call) if called(part) not in _KEEPS)


def _is_filled(number: int, tree: ast.AST) -> bool:
    """Whether the script fills something with a number: ``[-100] * n``, ``torch.full(shape, -100)``, ``labels[mask] = -100``."""
    for part in (*nodes_in(tree, ast.BinOp, ast.Call), *nodes_in(tree, ast.Assign)):
        match part:
            case ast.BinOp(op=ast.Mult(), left=ast.List(elts=[one])):
                values: list[ast.expr] = [one]
            case ast.Call() if called(part) in _FILLS:
                values = given_to(part)
            case ast.Assign() if any(isinstance(target, ast.Subscript) for target in part.targets):
                values = [part.value]
            case _:
                continue
        if any(negative(value, tree) == number for value in values):
            return True
    return False
