"""Optimizers that are given what requires grad at that moment."""

from __future__ import annotations

import ast

from torchsleuth.interp.trace import LibraryCall
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import only
from torchsleuth.syntax.forms import nodes_in


def filtered(analysis: Analysis, call: LibraryCall) -> ast.expr | None:
    """The parameters that an optimizer is given, where they are those that require grad."""
    node = call.site.call
    given = node.args[0] if node is not None and node.args else None
    if isinstance(given, ast.Name):
        assigned = analysis.index(call.site.span.path).of_type(ast.Assign)
        values = [one.value for one in assigned if given.id in map(ast.unparse, one.targets)]
        given = only(values)
    read = list(nodes_in(given, ast.Attribute)) if given is not None else []
    return given if any(part.attr == "requires_grad" for part in read) else None
