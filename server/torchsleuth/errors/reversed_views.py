"""Arrays that were reversed without a copy, far from the tensor that cannot share their memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import append_in
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_unary, nodes_in, parts_of_key

_COPIES = ("ascontiguousarray", "copy", "array", "tensor", "astype")
_REVERSES = ("flip", "fliplr", "flipud", "rot90")


def _reversed(case: Case) -> list[Filled]:
    """``image[:, ::-1]``, ``np.fliplr(image)``: of what the array is made from, else of the files."""
    made = [
        item for operand in case.frame.operands() for item in made_from(case, case.frame, operand) if _reverses(*item)
    ]
    if made:
        return made[:1]
    written: list[Filled] = [
        (file, node)
        for file in case.files
        for node in nodes_in(file.tree, ast.Call, ast.Subscript)
        if _reverses(file, node)
    ]
    return written if len(written) <= 2 else []


def _reverses(file: CrashFrame, node: ast.expr) -> bool:
    around = edits.path_to(file.tree, node)[:-1]
    if any(called(part) in _COPIES for part in around) or not isinstance(node, ast.Call | ast.Subscript):
        return False
    if called(node) in _REVERSES and isinstance(node, ast.Call):
        return re.match(r"(?:np|numpy)\.", file.text(node.func)) is not None
    steps = [part.step for part in parts_of_key(node) if isinstance(part, ast.Slice)]
    return any(is_unary(step, ast.USub) for step in steps)


def _reversed_here(case: Case) -> Iterator[Related]:
    for file, node in _reversed(case):
        yield note(file.source, node, "error.reversed_here")


def _copied(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``image[:, ::-1]`` → ``image[:, ::-1].copy()``"""
    for file, node in _reversed(case):
        yield append_in(file.source, node, ".copy()")


_NEGATIVE = r"strides? .*negative|negative strides?"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_NEGATIVE, _copied),)
PLACES = ((_NEGATIVE, _reversed_here),)
