"""The number of classes that a model of a library was told, far from the loss that meets one more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.losses import one_based
from torchsleuth.errors.provenance import straight
from torchsleuth.errors.reached import Filled, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import is_display, is_function_call, is_reference, nodes_in, plain_name

_TOLD = ("num_labels", "num_classes", "n_classes", "nclass", "n_labels")


def _counts(case: Case) -> tuple[int, int] | None:
    """The classes of the prediction, and those that the targets need."""
    given, target = case.call_input("input") or case.input, case.call_input("target") or {}
    bounds = target.get("whole_range") or target.get("range")
    if given is None or given.get("kind") != "tensor" or len(given["shape"]) < 2 or not bounds or one_based(case):
        return None
    return given["shape"][1], int(bounds[1]) + 1


def _told(case: Case) -> list[tuple[CrashFrame, ast.expr, int]]:
    """Where a library is told the number of classes that the prediction has."""
    counts = _counts(case)
    return [
        (file, keyword.value, counts[1])
        for file in (case.files if counts is not None else ())
        for call in file.all(ast.Call)
        for keyword in call.keywords
        if counts is not None and keyword.arg in _TOLD and _number(case, file, keyword.value) == counts[0] < counts[1]
    ]  # fmt: skip


def _number(case: Case, file: CrashFrame, node: ast.expr) -> int | None:
    """The number that an expression is, as far as it is written: ``len(TAGS) - 2``."""
    file, made = _written(case, file, node)
    if isinstance(made, ast.Constant):
        return made.value if type(made.value) is int else None
    if is_function_call(made, "len") and len(made.args) == 1:
        _, whole = _written(case, file, made.args[0])
        if is_display(whole) or isinstance(whole, ast.Set):
            return len(whole.elts)
        return len(whole.keys) if isinstance(whole, ast.Dict) else None
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Add | ast.Sub | ast.Mult):
        one, other = _number(case, file, made.left), _number(case, file, made.right)
        if one is None or other is None:
            return None
        return (
            one * other
            if isinstance(made.op, ast.Mult)
            else one + other
            if isinstance(made.op, ast.Add)
            else one - other
        )
    return None


def _written(case: Case, file: CrashFrame, node: ast.expr) -> Filled:
    """Where a name gets its value, as far back as there is one way."""
    return next(iter(straight(case, file, node)[-1:]), (file, node)) if is_reference(node) else (file, node)


def _told_here(case: Case) -> Iterator[Related]:
    for file, value, needed in _told(case)[:2]:
        yield note(file.source, value, "error.classes_told", needed=needed)


def _as_many(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``num_labels=len(TAGS) - 2`` → ``num_labels=len(TAGS)``, where that is the number that is needed; else the number."""
    for file, value, needed in _told(case)[:2]:
        names = [
            f"len({plain_name(target)})"
            for node in nodes_in(file.tree, ast.Assign)
            for target in node.targets
            if plain_name(target) and (is_display(node.value) or isinstance(node.value, ast.Dict))
            if len(node.value.elts if is_display(node.value) else node.value.keys) == needed  # type: ignore[union-attr]
        ]
        for new in [*names[:1], str(needed)]:
            yield replace(file, value, new, safe=False)


_CLASS = r"Target \d+ is out of bounds"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_CLASS, _as_many),)
PLACES = ((_CLASS, _told_here),)
