"""Names that are given to the result of what they called: ``loss = loss(prediction, target)``."""

from __future__ import annotations

import ast

from torchsleuth.syntax.forms import is_function_call, is_name, names_in, nodes_in, stores


def renamed_result(scope: ast.AST, name: str) -> tuple[str, list[ast.Name]]:
    """A free name for the result in a function or module, and the places where it stands for the old one: none where the
    name is not bound to a result of its own, or is bound in between."""
    names = list(nodes_in(scope, ast.Name))
    called = {id(node.func) for node in nodes_in(scope, ast.Call)}
    results = [
        target
        for node in nodes_in(scope, ast.Assign)
        if _calls(node.value, name)
        for target in node.targets
        if is_name(target, name)
    ]
    taken = {node.id for node in names} | {node.arg for node in nodes_in(scope, ast.arg)}
    free = next(text for text in (f"{name}_value", f"{name}_result", f"{name}_of_call") if text not in taken)
    if not results:
        return free, []
    first = min(node.lineno for node in results)
    own = [node for node in names if node.id == name and node.lineno >= first and id(node) not in called]
    stored = {id(target) for target in _updates(scope, name)} | {id(node) for node in results}
    if any(stores(node) and id(node) not in stored for node in own):
        return free, []
    return free, own


def _updates(scope: ast.AST, name: str) -> list[ast.expr]:
    """Where the result is changed further: ``loss += penalty``, ``loss = loss / 4``."""
    found: list[ast.expr] = []
    for node in ast.walk(scope):
        match node:
            case ast.AugAssign():
                found.append(node.target)
            case ast.Assign():
                if name in names_in(node.value):
                    found += node.targets
    return found


def _calls(value: ast.expr, name: str) -> bool:
    """``loss(prediction, target)``, also with a method behind it."""
    while isinstance(value, ast.Call | ast.Attribute | ast.Subscript):
        if is_function_call(value):
            return value.func.id == name
        value = value.func if isinstance(value, ast.Call) else value.value
    return False
