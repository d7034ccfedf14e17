"""Values that the code of a document takes for parameters of a name where nobody passes them: ``norm_layer=nn.LayerNorm``."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from torchsleuth.interp.callers import names_class
from torchsleuth.syntax.calls import settled
from torchsleuth.syntax.forms import defaults_of, is_literal, is_name, nodes_in


def usual(tree: ast.Module, maker_of: str, names: Container[str]) -> dict[str, ast.expr]:
    """By the name of a parameter what the first function takes for it that has such a default, or sets one: no number, and not
    None. What makes something of this name goes before the others."""
    found: dict[str, ast.expr] = {}
    for node in sorted(tree.body, key=lambda one: not names_class(one, maker_of)):
        for function in nodes_in(node, ast.FunctionDef):
            for name, value in (*defaults_of(function.args).items(), *_set(function)):
                told = settled(value, function, names)
                if told is not None and _is_telling(told):
                    found.setdefault(name, told)
    return found


def _is_telling(value: ast.expr) -> bool:
    """Whether a value may be that of another function, too: sizes are each function's own, and None says nothing."""
    return not isinstance(value, ast.Constant) or isinstance(value.value, bool | str)


def _set(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """``if norm is None: norm = nn.BatchNorm2d``, ``norm = norm or nn.BatchNorm2d``"""
    for node in nodes_in(function, ast.If, ast.Assign):
        match node:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[other]),
                body=[ast.Assign(targets=[target], value=value)],
            ) if is_literal(other, None) and is_name(target, name):
                yield name, value
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BoolOp(op=ast.Or(), values=[first, value])):
                if is_name(first, name):
                    yield name, value


__all__ = ["usual"]
