"""difference-rounded: large numbers are made to float32, and what they have in common is subtracted only then.

What it finds
    A whole number of 2^26 or more that is subtracted from what `.float()`, `.to(torch.float32)`, `astype("float32")` or
    `dtype=torch.float32` has made, in the same expression or under a name that is bound once: seconds since 1970, say.
Why it hurts
    float32 has 24 bits: numbers around 1.7e9 are 128 apart in it. The difference has lost all that is finer, and many samples are
    the same. Nothing is raised.
Example
    seconds = stamps.float() - 1_700_000_000
Use instead
    seconds = (stamps - 1_700_000_000).float()
Fix safety
    Safe: the difference of integers, or of numbers with 64 bits, is exact.
References
    torch.finfo, "Numerical accuracy" in the PyTorch documentation
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax.forms import argument_of, assigned_pairs, called, is_binary, is_method_call, literal, nodes_in

CODE = "TS353"
_BITS = 24
"""Of the numbers in float32."""
_FEWEST = 2**26
_SHORT = "float32"


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    if "float" not in source.text:
        return
    for scope in analysis.scopes:
        bound = {**_bound(analysis.tree(source.path)), **_bound(scope)}
        for difference in _own(scope):
            number = _number(difference.right, bound)
            cast = bound.get(difference.left.id) if isinstance(difference.left, ast.Name) else difference.left
            if number is None or cast is None or number < _FEWEST or not _is_shortened(cast):
                continue
            apart = 2 ** (math.floor(math.log2(number)) - _BITS + 1)
            values = {"number": source.segment(difference.right), "apart": apart}
            places = (source.span(cast).related(message("difference.cast")),) if cast is not difference.left else ()
            fixes = tuple(_exact(analysis, difference)) if cast is difference.left else ()
            yield Finding(source.span(difference), message("difference.rounded", **values), places, fixes)


def _own(scope: ast.Module | ast.FunctionDef) -> Iterator[ast.BinOp]:
    """The differences in a function, or in what stands in no function."""
    inner = {
        id(part) for one in nodes_in(scope, ast.FunctionDef) if one is not scope for part in nodes_in(one, ast.BinOp)
    }
    for node in nodes_in(scope, ast.BinOp):
        if id(node) not in inner and is_binary(node, ast.Sub):
            yield node


def _bound(scope: ast.Module | ast.FunctionDef) -> dict[str, ast.expr]:
    """The values of names that the statements of a scope bind once."""
    found: dict[str, list[ast.expr]] = {}
    for statement in scope.body:
        for one in nodes_in(statement, ast.Assign) if not isinstance(statement, ast.FunctionDef | ast.ClassDef) else ():
            for target, value in assigned_pairs(one):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _number(node: ast.expr, bound: dict[str, ast.expr]) -> int | None:
    value = literal(bound.get(node.id, node) if isinstance(node, ast.Name) else node)
    return value if type(value) is int else None


def _is_shortened(node: ast.expr) -> bool:
    """Whether an expression makes numbers of 32 bits."""
    if not isinstance(node, ast.Call):
        return False
    if is_method_call(node, "float") and not node.args:
        return True
    given = argument_of(node, 0 if called(node) in ("to", "type", "astype") else None, "dtype")
    return given is not None and ast.unparse(given).strip("'\"").endswith(_SHORT)


def _exact(analysis: Analysis, difference: ast.BinOp) -> Iterator[Candidate]:
    """``(stamps - origin).float()``"""
    source, cast = analysis.source, difference.left
    if is_method_call(cast, "float", "to", "type", "astype"):
        inner = source.segment(cast.func.value)
        method = source.segment(cast)[len(inner) :]
        yield replacement(source, difference, f"({inner} - {source.segment(difference.right)}){method}")


RULE = Rule(FAULTS[CODE], find)
