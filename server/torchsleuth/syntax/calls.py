"""Calls of a class in the text that defines it, and those of their arguments that mean the same in every execution."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Container, Sequence

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import by_position, contains, is_function_call, is_name, names_in, nodes_in, stores

Called = tuple[ast.Call, ast.FunctionDef | None]
"""A call, and the function that it is in."""


def is_main_guard(node: ast.stmt) -> bool:
    """``if __name__ == "__main__":``; for a contract, a text is a module."""
    if not isinstance(node, ast.If) or node.orelse:
        return False
    names = names_in(node.test)
    values = {part.value for part in nodes_in(node.test, ast.Constant)}
    return isinstance(node.test, ast.Compare) and names == {"__name__"} and values == {"__main__"}


def arguments(call: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
    """The arguments of a call by the names of the parameters, as far as they are written there."""
    first = list(itertools.takewhile(lambda one: not isinstance(one, ast.Starred), call.args))
    return dict(zip(names, first)) | {one.arg: one.value for one in call.keywords if one.arg is not None}


def calls(tree: ast.Module) -> dict[str, list[Called]]:
    """The calls of what has a plain name, by that, in the order of the text; not those of a script's main part."""
    found: dict[str, list[Called]] = {}
    waiting: list[tuple[ast.AST, ast.FunctionDef | None]]
    waiting = [(node, None) for node in reversed(tree.body) if not is_main_guard(node)]
    while waiting:
        node, around = waiting.pop()
        if is_function_call(node):
            found.setdefault(node.func.id, []).append((node, around))
        inside = node if isinstance(node, ast.FunctionDef) else around
        waiting += [(child, inside) for child in reversed(list(ast.iter_child_nodes(node)))]
    return found


def settled(given: ast.expr, around: ast.FunctionDef | None, names: Container[str]) -> ast.expr | None:
    """An argument that means the same in every execution: of names of the module alone, or a parameter's default; else None."""
    if around is not None:
        spec = around.args
        parameters = by_position(spec)
        defaults = dict(zip([one.arg for one in reversed(parameters)], reversed(spec.defaults)))
        inside = list(ast.walk(around))
        stored = {node.id for node in of_kind(inside, ast.Name) if stores(node)}
        if is_name(given, *(defaults.keys() - stored)):
            return settled(defaults[given.id], None, names)
        local = stored | {node.arg for node in of_kind(inside, ast.arg)}
        if any(node.id in local for node in nodes_in(given, ast.Name)):
            return None
    if contains(given, ast.Call, ast.Lambda, ast.Starred):
        return None
    used = [node.id for node in nodes_in(given, ast.Name)]
    return given if all(name in names for name in used) else None


def meant(given: ast.expr, around: ast.AST | None) -> ast.expr:
    """The value that is assigned to a variable, where that is done once in the function around its use; anything else as it is."""
    if around is None or not isinstance(given, ast.Name):
        return given
    stored = [node for node in nodes_in(around, ast.Name) if node.id == given.id and stores(node)]
    assigned = [node.value for node in nodes_in(around, ast.Assign) if stored == node.targets]
    return assigned[0] if assigned else given


__all__ = ["Called", "arguments", "calls", "is_main_guard", "meant", "settled"]
