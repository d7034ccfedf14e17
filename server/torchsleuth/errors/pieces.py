"""Batches and pieces of data that are cut in the script: the first length taken for the longest, the last piece shorter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.origin import followed_operands
from torchsleuth.messages import message
from torchsleuth.schema import Fix
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    is_attribute,
    is_binary,
    is_function_call,
    is_method_call,
    is_name,
    literal,
    names_in,
    nodes_in,
    stands_on,
)


def longest_of_batch(case: Case) -> Iterator[Fix]:
    """``len(batch[0])`` → ``max(len(item) for item in batch)``, in the function that failed."""
    frame = case.frame
    if isinstance(frame.enclosing, ast.Module):
        return
    for node in nodes_in(frame.enclosing, ast.expr):
        if (first := _first_length(node)) is not None:
            whole, length = first
            if _is_walked(frame, whole):
                item = frame.text(length)
                yield replace(frame, node, f"max({item.replace(f'{whole}[0]', 'item', 1)} for item in {whole})")


def _first_length(node: ast.expr) -> tuple[str, ast.expr] | None:
    """The list whose first element is measured, and the measure: ``len(x[0])``, ``x[0].size(0)``, ``x[0].shape[0]``."""
    measured: ast.expr | None = None
    match node:
        case ast.Call(func=ast.Name(id="len")) if node.args:
            measured = node.args[0]
        case _ if is_method_call(node, "size"):
            measured = node.func.value
        case ast.Subscript() if is_attribute(node.value, "shape"):
            measured = node.value.value
    if isinstance(measured, ast.Subscript) and isinstance(measured.value, ast.Name):
        if literal(measured.slice) == 0:
            return measured.value.id, node
    return None


def _is_walked(frame: CrashFrame, name: str) -> bool:
    """Whether the function goes through all elements of a list."""
    return any(name in names_in(node.iter) for node in nodes_in(frame.enclosing, ast.For, ast.comprehension))


def whole_pieces(case: Case) -> Iterator[Fix]:
    """``range(0, n, 10)`` → ``range(0, n - 9, 10)``, where a piece of ten is cut out at each start: without the last one,
    which is shorter."""
    for frame in case.frames:
        for loop in frame.all(ast.For):
            if stands_on(loop, frame.line):
                yield from _without_rest(case, frame, loop)


def _is_in_message(case: Case, width: ast.expr) -> bool:
    """Whether the error may be about pieces of a width: one of the sizes that it names is that, or a multiple, where it is written."""
    if "must match the size of tensor" not in case.crash["message"]:
        return True
    known = literal(width)
    sizes = [int(number) for number in re.findall(r"\d+", case.crash["message"])]
    return type(known) is not int or any(size and size % max(1, known) == 0 for size in sizes)


def _without_rest(case: Case, frame: CrashFrame, loop: ast.For) -> Iterator[Fix]:
    call = loop.iter
    if not (is_function_call(call, "range")):
        return
    if len(call.args) != 3 or not isinstance(loop.target, ast.Name):
        return
    end, step = call.args[1], call.args[2]
    if not _is_in_message(case, step):
        return
    width = frame.text(step)
    cut = f"{loop.target.id} : {loop.target.id} + {width}".replace(" ", "")
    slices = list(nodes_in(loop, ast.Slice))
    if any(frame.text(node).replace(" ", "") == cut for node in slices):
        rest = str(step.value - 1) if isinstance(step, ast.Constant) and type(step.value) is int else None
        text = f"{frame.text(end)} - {rest}" if rest is not None else f"{frame.text(end)} - {width} + 1"
        yield replace(frame, end, text, safe=False)


def inside_of_whole(case: Case) -> Iterator[Fix]:
    """``row[start : start + 6]`` behind ``start = min(start, len(row) - 6)``: where it starts too late, the piece is shorter."""
    places = [(case.frame.source, case.frame.node), *((source, node) for _, source, node in followed_operands(case))]
    for source, place in places:
        for node in ast.walk(place) if place is not None else ():
            cut = as_kind(node.slice, ast.Slice) if isinstance(node, ast.Subscript) else None
            if not isinstance(node, ast.Subscript) or cut is None:
                continue
            start, end = as_kind(cut.lower, ast.Name), cut.upper
            if start is not None and is_binary(end, ast.Add) and _is_in_message(case, end.right):
                statement = edits.enclosing_statement(case.frame.tree, node) if source is case.frame.source else None
                if is_name(end.left, start.id) and statement is not None:
                    width = source.segment(end.right)
                    text = f"{start.id} = min({start.id}, len({source.segment(node.value)}) - {width})"
                    edit = edits.insert_line_before(source, statement, text)
                    yield Fix(message("fix.insert", text=text), (edit,), safe=False)
