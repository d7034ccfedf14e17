"""The properties that differ from one sample of a dataset to the next, by the text of the method that makes them."""

from __future__ import annotations

import ast

from torchsleuth.syntax.forms import called, contains, nodes_in

_DRAWS = ("rand", "choice", "uniform", "sample", "bernoulli", "normal", "next")
"""Parts of the names of functions that give something else at each call."""
_DIVIDING = (ast.If, ast.While, ast.For, ast.Try, ast.Match)


def returns_differ(method: ast.AST) -> bool:
    """Whether conditions of the sample decide which ``return`` ends a method, and none of the dataset's own attributes alone,
    which are the same for all samples."""
    varying = {one.arg for args in nodes_in(method, ast.arguments) for one in [*args.posonlyargs, *args.args]}
    varying.discard("self")
    count = -1
    while len(varying) > count:
        count = len(varying)
        for node in ast.walk(method):
            varying |= _bound(node, varying)
    return all(
        _varies(_decider(node), varying)
        for node in ast.walk(method)
        if isinstance(node, _DIVIDING) and contains(node, ast.Return)
    )


def _decider(node: ast.AST) -> ast.AST:
    """The value that decides how a statement goes on."""
    match node:
        case ast.If(test=decider) | ast.While(test=decider) | ast.For(iter=decider) | ast.Match(subject=decider):
            return decider
    return node


def _bound(node: ast.AST, varying: set[str]) -> set[str]:
    """The names that a node binds to what varies."""
    match node:
        case ast.Assign(value=value, targets=targets):
            pass
        case (
            ast.AugAssign(value=value, target=target)
            | ast.NamedExpr(value=value, target=target)
            | ast.For(iter=value, target=target)
            | ast.comprehension(iter=value, target=target)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
            targets = [target]
        case _:
            return set()
    if not _varies(value, varying):
        return set()
    return {name.id for target in targets for name in nodes_in(target, ast.Name)}


def _varies(node: ast.AST, varying: set[str]) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in varying:
            return True
        if isinstance(part, ast.Call) and any(draw in called(part) for draw in _DRAWS):
            return True
    return False
