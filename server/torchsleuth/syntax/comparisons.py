"""Comparisons that a test is made of, and those that have to be true where it holds, or where it does not."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.syntax.forms import is_binary

COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
}
"""The names of the comparisons, and what each one does."""
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def comparisons(test: ast.expr, holds: bool) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """The comparisons that are true where a test holds, or where it does not."""
    match test:
        case ast.BoolOp() if isinstance(test.op, ast.And if holds else ast.Or):
            for value in test.values:
                yield from comparisons(value, holds)
        case ast.UnaryOp(op=ast.Not()):
            yield from comparisons(test.operand, not holds)
        case ast.Compare() if holds or len(test.ops) == 1:
            for operator, left, right in zip(test.ops, (test.left, *test.comparators), test.comparators):
                name = _COMPARISONS.get(type(operator))
                if name is not None:
                    yield (name if holds else _OPPOSITES[name]), left, right
        case _ if not holds and is_binary(test, ast.Mod):
            yield "==", test, ast.copy_location(ast.Constant(0), test)
