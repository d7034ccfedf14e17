"""return-inside-loop: a pass over the data that ends after its first batch.

What it finds
    A loop that runs a model on batches, whose last statement is a return of what the loop adds up: one that is indented
    a step too far.
Why it hurts
    Each call trains on, or evaluates, one batch only, and divides what that gave by the number of all.
Example
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
        return correct / len(loader.dataset)
Use instead
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
    return correct / len(loader.dataset)
Fix safety
    Safe: a sum over the batches is meant to be returned after the last one.
References
    https://docs.python.org/3/reference/simple_stmts.html#the-return-statement
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import blocks_of, loop_statement
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import any_are, as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, nodes_in

CODE = "TS524"
_ADDING = frozenset({"append", "extend", "update", "add"})


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[object] = set()
    for event in analysis.events("forward"):
        for point in event.loops:
            if point.span in seen or not isinstance(point.node, ast.For):
                continue
            seen.add(point.span)
            loop = as_kind(loop_statement(analysis, point), ast.For)
            if loop is not None and _breaks(loop, point):
                yield _of_break(analysis, point, loop)
            if loop is not None and _ends_too_early(loop, point):
                source = analysis.source_of(point.span.path)
                place = source.span(loop.iter).related(message("loop.return.loop"))
                found = tuple(_moved(analysis, point, loop))
                yield Finding(source.span(loop.body[-1]), message("loop.return", line=loop.lineno), (place,), found)


def _breaks(loop: ast.For, point: LoopPoint) -> bool:
    """Whether a loop over a loader trains on its first batch, and ends."""
    inside = [part for statement in loop.body for part in ast.walk(statement)]
    trains = any(is_method_call(part, "backward") for part in inside)
    goes_on = any_are(inside, ast.Continue)
    return point.loader is not None and isinstance(loop.body[-1], ast.Break) and trains and not goes_on


def _of_break(analysis: Analysis, point: LoopPoint, loop: ast.For) -> Finding:
    source, last = analysis.source_of(point.span.path), loop.body[-1]
    place = source.span(loop.iter).related(message("loop.return.loop"))
    fix = Candidate(message("fix.remove", text="break"), (edits.remove_line(source, last.lineno),), safe=False)
    alone = source.line(last.lineno).strip() == "break"
    return Finding(source.span(last), message("loop.break"), (place,), (fix,) if alone else ())


def _ends_too_early(loop: ast.For, point: LoopPoint) -> bool:
    """Whether the body always returns in its first iteration, and what it returns is added up in it."""
    last = as_kind(loop.body[-1], ast.Return)
    plan = point.loader.slots.get("plan") if point.loader is not None else None
    if last is None or last.value is None or 1 in (point.count, getattr(plan, "count", None)):
        return False
    inside = [part for statement in loop.body for part in ast.walk(statement)]
    if any_are(inside, ast.Continue, ast.Break, ast.Yield):
        return False
    read = {ast.unparse(part) for part in nodes_in(last.value, ast.Name, ast.Attribute)}
    return any(ast.unparse(target) in read for target in _added_to(inside))


def _added_to(inside: list[ast.AST]) -> Iterator[ast.expr]:
    for part in inside:
        if isinstance(part, ast.AugAssign):
            yield part.target
        elif is_method_call(part, *_ADDING):
            yield part.func.value


def _moved(analysis: Analysis, point: LoopPoint, loop: ast.For) -> Iterator[Candidate]:
    source = analysis.source_of(point.span.path)
    ends = any(block and block[-1] is loop for block in blocks_of(analysis.tree(point.span.path)))
    inner, outer = edits.indentation(source, loop.body[0].lineno), edits.indentation(source, loop.lineno)
    changes = edits.outdent(source, loop.body[-1], inner, outer)
    if ends and len(loop.body) > 1 and changes and not loop.orelse:
        yield Candidate(message("fix.move_out", text="return", line=loop.lineno), changes)


RULE = Rule(FAULTS[CODE], find)
