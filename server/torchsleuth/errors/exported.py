"""Sizes that a program was exported with as fixed numbers, where they were to be left open."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.reached import note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import (
    called,
    is_attribute,
    is_constant,
    is_display,
    is_function_call,
    is_method_call,
    nodes_in,
    parts_of_tuple,
)

_FIXED = r"Constraints violated \((\w+)[^)]*\)![\s\S]*?specialized it to be a constant \((\d+)\)"
_SHAPES = (
    "view",
    "reshape",
    "expand",
    "repeat",
    "zeros",
    "ones",
    "empty",
    "full",
    "arange",
    "unflatten",
    "new_zeros",
    "split",
    "randn",
)


def _of_models(case: Case) -> Iterator[tuple[CrashFrame, ast.FunctionDef]]:
    """The methods of the user's modules that are not constructors."""
    for file in case.files:
        for kind in file.all(ast.ClassDef):
            methods = [part for part in kind.body if isinstance(part, ast.FunctionDef)]
            if any(part.name == "forward" for part in methods):
                yield from ((file, part) for part in methods if part.name != "__init__")


def _numbers(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The sizes of which plain numbers are made: ``int(x.shape[0])``, ``float(x.size(0))``, ``x.shape[0].item()``."""
    return [
        (file, node)
        for file, method in _of_models(case)
        for node in nodes_in(method, ast.Call)
        if is_function_call(node, "int", "float") and len(node.args) == 1 and _is_size(node.args[0])
        or is_function_call(node, "len") and len(node.args) == 1 and isinstance(node.args[0], ast.Name)
    ]  # fmt: skip


def _is_size(node: ast.expr) -> bool:
    return any(is_attribute(part, "shape") or is_method_call(part, "size", "numel") for part in ast.walk(node))


def _written(case: Case) -> list[tuple[CrashFrame, ast.Call, ast.expr]]:
    """The number itself where shapes are written, and the attributes that hold it."""
    found = re.search(_FIXED, case.crash["message"])
    number = int(found[2]) if found is not None else -1
    return [
        (file, call, part)
        for file, method in _of_models(case)
        for call in nodes_in(method, ast.Call)
        if called(call) in _SHAPES
        for given in call.args
        for part in (given.elts if is_display(given) else parts_of_tuple(given))
        if is_constant(part, int) and part.value == number
        or isinstance(part, ast.Attribute) and re.search(r"batch", part.attr)
    ]  # fmt: skip


def _fixed_here(case: Case) -> Iterator[Related]:
    for file, node in _numbers(case)[:2]:
        yield note(file.source, node, "error.size_as_number")
    for file, _, part in _written(case)[:2]:
        yield note(file.source, part, "error.size_written")


def _left_open(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``int(x.shape[0])`` → ``x.shape[0]``; ``x.view(16, -1, 4)`` → ``x.view(x.shape[0], -1, 4)``"""
    for file, node in _numbers(case):
        given = file.text(node.args[0])
        yield replace(file, node, given if called(node) != "len" else f"{given}.shape[0]")
    for file, call, part in _written(case):
        if is_method_call(call, "view", "reshape", "expand"):
            whole = file.text(call.func.value)
            first = call.args[:1] == [part] or is_display(call.args[0]) and call.args[0].elts[0] is part
            if first and isinstance(call.func.value, ast.Name):
                yield replace(file, part, f"{whole}.shape[0]")
                continue
            if not any(ast.unparse(other) == "-1" for other in nodes_in(call, ast.UnaryOp)):
                yield replace(file, part, "-1")


ENTRIES = (entry("TS199", _FIXED, "error.fixed_size"),)
BUILDERS: tuple[tuple[str, Builder], ...] = ((_FIXED, _left_open),)
PLACES = ((_FIXED, _fixed_here),)
