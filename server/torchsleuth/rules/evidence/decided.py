"""Whether an expression gives the numbers of classes that were decided on, rather than scores: ``scores.argmax(1)``, ``p > 0.5``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_literal,
    is_method_call,
    is_name,
    nodes_in,
    parts_of_tuple,
    plain_name,
)

_KEEP = frozenset(
    "cpu detach numpy float int long double bool tolist squeeze flatten view reshape ravel to astype item clone cuda half contiguous".split()
)
"""Methods that leave the values as they are."""
_JOINS = frozenset("cat concat concatenate stack hstack vstack array asarray tensor as_tensor from_numpy".split())
_CHOOSES = frozenset({"argmax", "round", "argmin"})
_PAIRS = frozenset({"max", "topk"})
_DEPTH = 8


class Scope:
    """The bindings of a function, or of a file outside of its functions."""

    def __init__(self, node: ast.AST) -> None:
        inner = {
            id(part) for one in nodes_in(node, ast.FunctionDef, ast.Lambda) if one is not node for part in ast.walk(one)
        }
        self.calls = [one for one in nodes_in(node, ast.Call) if id(one) not in inner]
        self.statements = [one for one in nodes_in(node, ast.Assign, ast.AugAssign) if id(one) not in inner]

    def given(self, name: str) -> list[ast.expr]:
        """The values that a name is bound to, and those that are put into the list that it is."""
        found = [
            call.args[0]
            for call in self.calls
            if is_method_call(call, "append", "extend") and len(call.args) == 1 and is_name(call.func.value, name)
        ]
        for one in self.statements:
            pairs = assigned_pairs(one) if isinstance(one, ast.Assign) else iter([(one.target, one.value)])
            for target, value in pairs:
                if is_name(target, name):
                    found.append(value)
                elif name in [plain_name(part) for part in parts_of_tuple(target)]:
                    found.append(_second(target, value, name))
        return [one for one in found if not (isinstance(one, ast.List) and not one.elts)]


def _second(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    """``scores.max(1)[1]`` of ``_, predicted = scores.max(1)``."""
    place = [plain_name(part) for part in parts_of_tuple(target)].index(name)
    return ast.copy_location(ast.Subscript(value, ast.Constant(place), ast.Load()), value)


def decided(node: ast.expr, scope: Scope, depth: int = _DEPTH) -> ast.expr | None:
    """Where the classes are decided on that an expression gives; None where it may give something else."""
    if not depth:
        return None
    match node:
        case ast.Compare():
            return node
        case ast.Name():
            found = [decided(one, scope, depth - 1) for one in scope.given(node.id)]
            return found[0] if found and None not in found else None
        case ast.Subscript() if called(node.value) in _PAIRS and is_literal(node.slice, 1):
            return node
        case ast.Attribute() if node.attr == "indices" and called(node.value) in _PAIRS:
            return node
        case ast.List() | ast.Tuple() if node.elts:
            return decided(node.elts[0], scope, depth - 1)
        case ast.ListComp():
            return decided(node.elt, scope, depth - 1)
        case ast.Call():
            return _of_call(node, scope, depth)
    return None


def _of_call(node: ast.Call, scope: Scope, depth: int) -> ast.expr | None:
    name = called(node)
    if name in _CHOOSES:
        return node
    if name == "where" and len(node.args) == 3 and all(isinstance(one, ast.Constant) for one in node.args[1:]):
        return node if isinstance(node.args[0], ast.Compare) else None
    if name in _JOINS and node.args:
        return decided(node.args[0], scope, depth - 1)
    return decided(node.func.value, scope, depth - 1) if is_method_call(node, *_KEEP) else None


def scopes(tree: ast.AST) -> Iterator[Scope]:
    """The file itself and its functions."""
    yield Scope(tree)
    yield from map(Scope, nodes_in(tree, ast.FunctionDef))
