"""Functions that hand back the function or class they are given, such as decorators that register or document it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import by_position, is_function_call, is_name, loads
from torchsleuth.values import Function, Value


def hands_back(function: Function, lookup: Callable[[str, Function], Value], around: tuple[ast.AST, ...] = ()) -> bool:
    """Whether whatever a function returns is its first argument; `lookup`: what a name in it means."""
    node = function.node
    parameters = by_position(node.args)
    if not isinstance(node, ast.FunctionDef) or function.kind != "function" or function.is_generator or not parameters:
        return False
    name = parameters[0].arg
    returned = [part.value for part in of_kind(_own_statements(node), ast.Return)]
    if not _ends(node.body) or _rebinds(node, name):
        return False
    for value in returned:
        call = value if is_function_call(value) and value.args else None
        handed = value if call is None else call.args[0]
        if not is_name(handed, name):
            return False
        if call is not None:
            assert isinstance(call.func, ast.Name)
            inner = as_kind(lookup(call.func.id, function), Function)
            if inner is None or inner.node in around or inner.owner is not None:
                return False
            if not hands_back(inner, lookup, (*around, node)):
                return False
    return True


def _own_statements(node: ast.AST) -> Iterator[ast.AST]:
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.expr):
            yield part
            yield from _own_statements(part)


def _ends(body: list[ast.stmt]) -> bool:
    """Whether nothing comes after the last of these statements."""
    if not body:
        return False
    last = body[-1]
    return isinstance(last, ast.Return | ast.Raise) or (
        isinstance(last, ast.If) and _ends(last.body) and _ends(last.orelse)
    )


def _rebinds(node: ast.AST, name: str) -> bool:
    """Whether a function, or one inside of it, may give its parameter another value."""
    return any(
        (is_name(part, name) and not loads(part))
        or (
            isinstance(part, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
            and part is not node
            and part.name == name
        )
        or (isinstance(part, ast.Nonlocal) and name in part.names)
        for part in ast.walk(node)
    )
