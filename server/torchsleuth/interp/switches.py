"""Values that parameters and fields may have which are no sizes: those that code compares them with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import is_method_call, is_text, last_word, nodes_in
from torchsleuth.tensors.dims import is_number


def switches(*roots: ast.AST) -> dict[str, ast.Constant]:
    """By the name of a variable or an attribute the first text that it is compared with, and False for one that is only tested.
    What the first roots say goes before what the others do."""
    found: dict[str, ast.Constant] = {}
    tested: dict[str, ast.Constant] = {}
    kept: dict[str, str] = {}
    for root in roots:
        for node in ast.walk(root):
            match node:
                case ast.Assign() if isinstance(node.targets[0], ast.Attribute):
                    kept.setdefault(node.targets[0].attr, _name(node.value))
                case ast.Compare():
                    for name, value in _compared(node):
                        found.setdefault(name, value)
                case ast.If() | ast.IfExp():
                    raises = isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)
                    for part in _tested(node.test, raises):
                        tested.setdefault(_name(part), ast.copy_location(ast.Constant(False), part))
    told = {**tested, **found}
    return {
        name: value
        for name, value in {**{kept.get(name, ""): value for name, value in told.items()}, **told}.items()
        if name
    }


def numbers(*roots: ast.AST) -> dict[str, int]:
    """By the name of a variable or an attribute the first integer that it is said to be: ``stride == 16``, ``n in (18, 34)``."""
    found: dict[str, int] = {}
    for node in (one for root in roots for one in nodes_in(root, ast.Compare)):
        options = _options(node) if isinstance(node.ops[0], ast.Eq | ast.In) else []
        values = [one.value for one in of_kind(options, ast.Constant) if is_number(one.value)]
        if values and len(values) == len(options):
            found.setdefault(_name(node.left), values[0])
    return found


def _compared(node: ast.Compare) -> Iterator[tuple[str, ast.Constant]]:
    """``mode == "sum"``, ``mode in ("sum", "mean")``"""
    options = _options(node)
    words = [one for one in options if is_text(one)]
    if words and len(words) == len(options):
        yield _name(node.left), words[0]


def _options(node: ast.Compare) -> list[ast.expr]:
    """The values that a comparison says that something is, or is not."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
        return []
    other = node.comparators[0]
    return other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]


def _tested(test: ast.expr, raises: bool) -> Iterator[ast.expr]:
    """The question of a test. `raises`: where it holds, so that what must not be False is none of that."""
    match test:
        case ast.BoolOp():
            for value in test.values:
                yield from _tested(value, raises)
        case ast.UnaryOp(op=ast.Not()) if not raises:
            yield from _tested(test.operand, raises)
        case ast.Attribute() | ast.Name():
            yield test


def _name(node: ast.expr) -> str:
    if is_method_call(node, "lower", "upper"):
        node = node.func.value
    return last_word(node)


__all__ = ["numbers", "switches"]
