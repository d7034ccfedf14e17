"""Indices that go one too far: counted from one, or the next element of the last one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import append_in, replace
from torchsleuth.errors.origin import followed_operands
from torchsleuth.schema import Fix
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import is_name, is_reference, nodes_in, plain_name
from torchsleuth.syntax.text import SourceText

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _shorter(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``return len(self.rows)`` → ``return len(self.rows) - 1``, where ``self.rows[i + 1]`` is read; the same for a loop over
    ``range(n)`` that reads the next element, or tells it to a loader."""
    for frame in case.frames:
        ahead = _ahead(frame.node or frame.statement)
        around = frame.enclosing
        if ahead is None or not isinstance(around, _Function):
            continue
        step, names = ahead
        if around.name == "__getitem__":
            yield from _shorter_length(frame, around, step)
        yield from _shorter_loops(frame.source, around, step, names)
    for _, source, place in followed_operands(case):
        ahead = _ahead(place)
        if ahead is not None:
            for function in _functions_around(case, source, place):
                yield from _shorter_loops(source, function, *ahead)


def _ahead(node: ast.AST | None) -> tuple[ast.expr, set[str]] | None:
    """How far an expression looks ahead, ``1`` of ``i + 1``, and the names that it counts from."""
    for part in nodes_in(node, ast.BinOp) if node is not None else ():
        if isinstance(part.op, ast.Add) and isinstance(part.left, ast.Name):
            step = part.right
            plain = isinstance(step, ast.Constant) and type(step.value) is int
            if plain or is_reference(step):
                return step, {part.left.id}
    return None


def _shorter_length(frame: CrashFrame, method: ast.AST, step: ast.expr) -> Iterator[Fix]:
    """The length of the data set that a method belongs to."""
    for kind in (node for node in frame.all(ast.ClassDef) if method in node.body):
        for part in kind.body:
            if isinstance(part, _Function) and part.name == "__len__":
                returned = [node.value for node in nodes_in(part, ast.Return) if node.value]
                if len(returned) == 1 and _readable(step):
                    yield replace(frame, returned[0], f"{frame.text(returned[0])} - {frame.text(step)}", safe=False)


def _readable(step: ast.expr) -> bool:
    """Whether another method can read it too."""
    return isinstance(step, ast.Constant | ast.Attribute)


def _shorter_loops(source: SourceText, function: ast.AST, step: ast.expr, names: set[str]) -> Iterator[Fix]:
    for node in nodes_in(function, ast.For, ast.comprehension):
        if isinstance(node.iter, ast.Call):
            call = node.iter
            is_range = is_name(call.func, "range") and 0 < len(call.args) < 3
            if is_range and plain_name(node.target) in names:
                yield append_in(source, call.args[-1], f" - {source.segment(step)}", safe=False)


def _functions_around(case: Case, source: SourceText, place: ast.AST) -> Iterator[ast.AST]:
    for frame in {frame.path: frame for frame in case.frames if frame.path == source.path}.values():
        for node in ast.walk(frame.tree):
            if isinstance(node, _Function) and any(part is place for part in ast.walk(node)):
                yield node


def _from_zero(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``edges = torch.tensor(…)`` → ``… - 1``, where what it holds goes from 1 to the number of elements."""
    for node, tensor in case.frame.tensor_operands():
        parts = nodes_in(node, ast.expr)
        known = [tensor, *(item for part in parts if (item := case.frame.tensor(part)) is not None)]
        bounds = next((item.get("whole_range") or item["range"] for item in known if item.get("range")), None)
        if not bounds or "int" not in tensor["dtype"] or bounds[0] < 1 or bounds[1] != int(found[1]):
            continue
        if bounds[1] == int(found[2]):
            made = [(source, place) for operand, source, place in followed_operands(case) if operand is node]
            for source, place in reversed(made):
                value = as_kind(place.value if isinstance(place, ast.Assign) else place, ast.Call)
                if value is not None:
                    yield append_in(source, value, " - 1", safe=False)
            yield append_in(case.frame.source, node, " - 1", safe=False)


BUILDERS: tuple[tuple[str, Builder], ...] = (
    (r"index (\d+) is out of bounds for dimension \d+ with size (\d+)", _from_zero),
    (r"out of (?:bounds|range)", _shorter),
)
