"""Transforms of images that a file composes, and the data sets that they are given to."""

from __future__ import annotations

import ast

from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax.forms import given_to, is_name, nodes_in, parts_of_tuple, targets_of
from torchsleuth.syntax.names import Names


def composed(analysis: Analysis) -> list[ast.Call]:
    """The calls that make one transform of several."""
    if "Compose" not in analysis.source.text:
        return []
    uses = Names(analysis.tree(analysis.source.path)).uses
    return [use.call for use in uses if use.call is not None and use.path.endswith(".Compose")]


def is_given(analysis: Analysis, owner: ast.ClassDef, transform: ast.expr, made: ast.Call) -> bool:
    """Whether a transform that was made is the one of the class: set in it, or given to the call that makes an object of it."""
    trail = analysis.index(analysis.source.path).trail(made)
    statement = next((part for part in reversed(trail) if isinstance(part, ast.stmt)), None)
    parts = (
        [part for target in targets_of(statement) for part in parts_of_tuple(target)] if statement is not None else []
    )
    texts = set(map(ast.unparse, parts))
    if owner in trail or not isinstance(transform, ast.Attribute):
        return ast.unparse(transform) in texts
    stored = [one for one in nodes_in(owner, ast.Assign) if ast.unparse(transform) in map(ast.unparse, targets_of(one))]
    if not any(isinstance(one.value, ast.Name) for one in stored):
        return False
    for call in analysis.index(analysis.source.path).of_type(ast.Call):
        if is_name(call.func, owner.name):
            given = given_to(call)
            if any(one is made or is_name(one, *texts) for one in given):
                return True
    return False
