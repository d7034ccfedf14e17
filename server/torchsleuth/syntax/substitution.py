"""Copies of expressions with another expression in the place of a name or an attribute."""

from __future__ import annotations

import ast
import copy
from typing import Any

from torchsleuth.syntax.forms import is_reference


def substituted(node: ast.expr, reference: str, new: ast.expr) -> ast.expr:
    """`reference`: the name or the attribute, as it is written."""
    changed: ast.expr = _With(reference, new).visit(copy.deepcopy(node))
    return changed


class _With(ast.NodeTransformer):
    def __init__(self, reference: str, new: ast.expr) -> None:
        self.reference, self.new = reference, new

    def visit(self, node: ast.AST) -> Any:
        found = is_reference(node) and ast.unparse(node) == self.reference
        return self.new if found else super().visit(node)


__all__ = ["substituted"]
