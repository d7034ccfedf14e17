"""The return that a function forgets: repairs of what is None because of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.sifting import any_are
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_binding

_MAX = 4
"""Functions of a file that are tried."""


def returned(analysis: Analysis, path: str) -> Iterator[Candidate]:
    """Functions that compute something in their last line and return nothing, with the return."""
    source, found = analysis.source_of(path), 0
    for function in analysis.index(path).of_type(ast.FunctionDef):
        if function.name == "__init__" or found == _MAX:
            continue
        inside = [part for part in ast.walk(function) if part is not function]
        if any_are(inside, ast.Return, ast.Yield, ast.YieldFrom, ast.FunctionDef):
            continue
        last = function.body[-1]
        text = f"return {source.segment(last)}"
        if is_binding(last):
            text = f"return {last.targets[0].id}"
            edit = edits.insert_line_after(source, last, text)
        elif isinstance(last, ast.Expr) and isinstance(last.value, ast.Call | ast.BinOp | ast.Tuple):
            edit = edits.insert(source, source.start_of(last), "return ")
        else:
            continue
        found += 1
        yield Candidate(message("fix.insert", text=" ".join(text.split())), (edit,))


__all__ = ["returned"]
