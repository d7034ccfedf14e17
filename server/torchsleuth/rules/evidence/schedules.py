"""Shared by the rules about learning rate schedules: how often a schedule steps, and what decides that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile
from typing import TypeGuard

from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import caller_of, is_alone, loop_statement, own_blocks, statement_of
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.syntax import edits
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import LibraryObject, Site, is_int


def every_kth(analysis: Analysis, step: Event) -> ast.BinOp | None:
    """The ``i % k`` that decides whether the optimizer steps."""
    statement = statement_of(analysis, step.site)
    if statement is None:
        return None
    inner: ast.AST = statement
    for part in reversed(edits.path_to(analysis.tree(step.site.span.path), statement)):
        block = next((body for body in own_blocks(part) if inner in body), [])
        skipping = [one for one in takewhile(lambda one: one is not inner, block) if _skips(one)]
        tests = [one.test for one in skipping if isinstance(one, ast.If)]
        if isinstance(part, ast.If) and inner in part.body:
            tests.append(part.test)
        found = [node for test in tests for node in ast.walk(test) if _is_modulo(node)]
        if found:
            return found[0]
        if isinstance(part, ast.For | ast.While | ast.FunctionDef | ast.If):
            return None
        inner = part if isinstance(part, ast.stmt) else inner
    return None


def _skips(statement: ast.AST) -> bool:
    return isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Continue) and not statement.orelse


def _is_modulo(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


def is_unconditional(analysis: Analysis, place: Site, points: list[LoopPoint]) -> bool:
    """Whether nothing but these loops decides how often something happens, and nothing leaves those early."""
    site: Site | None = place
    outermost = points[0].span if points else None
    while site is not None:
        statement = statement_of(analysis, site)
        if statement is None:
            return False
        for part in reversed(edits.path_to(analysis.tree(site.span.path), statement)[:-1]):
            if isinstance(part, ast.If | ast.While | ast.Try | ast.Match):
                return False
            if isinstance(part, ast.For | ast.FunctionDef | ast.AsyncFunctionDef) and _leaves(part):
                return False
            if isinstance(part, ast.For) and analysis.source_of(site.span.path).span(part) == outermost:
                return True  # What is around all loops decides whether this is reached, and it was.
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                break
        site = caller_of(site)
    return True


def is_one_of_several(analysis: Analysis, event: Event, points: list[LoopPoint]) -> bool:
    """Whether the loops step different schedules in the same place."""
    same = [other.subject for other in analysis.events("scheduler_step") if other.site.span == event.site.span]
    call = event.site.node
    held = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    names = {part.id for part in ast.walk(held) if isinstance(part, ast.Name)} if held is not None else set()
    set_anew = {
        part.id
        for point in points
        if point.span.path == event.site.span.path
        for part in ast.walk(point.node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return any(subject is not event.subject for subject in same) or bool(names & set_anew)


def is_set_back(analysis: Analysis, scheduler: LibraryObject, points: list[LoopPoint]) -> bool:
    """Whether one of the loops loads the state of a schedule, which then counts from there."""
    loads = analysis.calls.get(f"{scheduler.path}.load_state_dict", ())
    loops = {point.execution for load in loads for point in load.loops}
    return any(point.execution in loops for point in points)


def _leaves(block: ast.For | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a loop, or a function before its end, may be left."""
    ways = [part for part in ast.walk(block) if isinstance(part, ast.Break | ast.Continue | ast.Return | ast.Raise)]
    if isinstance(block, ast.For):
        return bool(ways)
    return any(part is not block.body[-1] for part in ways if isinstance(part, ast.Return | ast.Raise))


def loops_since(event: Event, scheduler: LibraryObject) -> list[LoopPoint]:
    """The loops around the step in which the scheduler is not made anew."""
    assert scheduler.site is not None
    line, path = scheduler.site.span.start.line, scheduler.site.span.path
    return [
        point
        for point in event.loops
        if not (point.span.path == path and point.span.start.line <= line <= point.span.end.line)
    ]


def iterations(point: LoopPoint) -> Size | None:
    if point.count is not None:
        return point.count
    plan = point.loader.slots.get("plan") if point.loader is not None else None
    return getattr(plan, "count", None)


def product(sizes: list[Size | None]) -> Size | None:
    result: Size = 1
    for size in sizes:
        if not is_int(size) or size is None:
            return None
        result = dims.multiply(result, size)
    return result


def batches_of(analysis: Analysis, event: Event, points: list[LoopPoint], scheduler: LibraryObject) -> str | None:
    """``len(loader)``, where the loader of the innermost loop is known by a plain name, where the schedule is made, too."""
    assert scheduler.site is not None
    frame = scheduler.site.scene
    iterated = points[-1].node.iter if points and isinstance(points[-1].node, ast.For) else None
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.args:
        iterated = iterated.args[0]
    loader = points[-1].loader if points else None
    for names in (frame.names, *frame.closure, frame.globals):
        for name, value in names.items():
            if loader is not None and value is loader and isinstance(name, str):
                return f"len({name})"
    same = event.site.scene == frame or event.site.scene.function is frame.function
    return f"len({ast.unparse(iterated)})" if same and isinstance(iterated, ast.Name | ast.Attribute) else None


def with_batches(
    analysis: Analysis, event: Event, points: list[LoopPoint], scheduler: LibraryObject, value: ast.expr
) -> Iterator[Candidate]:
    """A number of epochs, where the schedule is made, times the number of batches."""
    assert scheduler.site is not None
    batches = batches_of(analysis, event, points, scheduler)
    if batches is not None:
        source = analysis.source_of(scheduler.site.span.path)
        old = source.segment(value)
        text = old if isinstance(value, ast.Name | ast.Constant | ast.Attribute | ast.Call) else f"({old})"
        new = f"{text} * {batches}"
        yield Candidate(message("fix.replace", old=old, new=new), (edits.replace(source, value, new),))


def once_an_epoch(analysis: Analysis, event: Event, points: list[LoopPoint], safe: bool = False) -> Iterator[Candidate]:
    """The step behind the innermost loop."""
    path, statement = event.site.span.path, statement_of(analysis, event.site)
    loop = loop_statement(analysis, points[-1]) if points and points[-1].span.path == path else None
    if statement is not None and loop is not None and is_alone(statement, analysis, path):
        here = analysis.source_of(path)
        title = message("fix.move_out", text=here.segment(statement), line=loop.lineno)
        yield Candidate(title, edits.relocate(here, [statement], loop), safe)
