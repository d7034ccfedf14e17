"""Shared by the rules about learning rate schedules: how often a schedule steps, and what decides that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TypeGuard

from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.accelerators import is_region
from torchsleuth.rules.evidence.graphs import last_assignment
from torchsleuth.rules.evidence.loops import caller_of, is_alone, loop_statement, own_blocks, statement_of
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.sifting import first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    by_position,
    is_binary,
    is_definition,
    is_function_call,
    is_literal,
    is_method_call,
    is_reference,
    is_spread,
    last_word,
    names_in,
    nodes_in,
    stands_on,
    stores,
)
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.values import Function, LibraryObject, Site, Value, is_int
from torchsleuth.values.frames import Scene


def every_kth(analysis: Analysis, step: Event) -> tuple[ast.expr, Site] | None:
    """The ``k`` where ``i % k``, or a counter that is set back, decides whether the optimizer steps, or the function is called in
    which it does, with the place where it does."""
    site: Site | None = step.site
    while site is not None:
        statement = statement_of(analysis, site)
        around = analysis.trail(site.span.path, statement)[:-1] if statement is not None else []
        found = _every_kth(analysis, site, statement) if statement is not None else None
        if found is not None:
            return found, site
        site = caller_of(site) if around and isinstance(around[-1], ast.FunctionDef) else None
    return None


def _every_kth(analysis: Analysis, site: Site, statement: ast.stmt) -> ast.expr | None:
    inner: ast.AST = statement
    for part in reversed(analysis.trail(site.span.path, statement)):
        block = next((body for body in own_blocks(part) if inner in body), [])
        skipping = [one for one in takewhile(lambda one: one is not inner, block) if _skips(one)]
        tests = [one.test for one in of_kind(skipping, ast.If)]
        if isinstance(part, ast.If) and inner in part.body and remainder_left(part.test) is None:
            tests.append(part.test)
        found = [node.right for test in tests for node in ast.walk(test) if is_binary(node, ast.Mod)]
        if isinstance(part, ast.If) and inner in part.body:
            found += _counted(part, analysis.trail(site.span.path, statement))
        if found:
            return found[0]
        if isinstance(part, ast.For | ast.While | ast.FunctionDef | ast.If):
            return None
        inner = part if isinstance(part, ast.stmt) else inner
    return None


def remainder_left(test: ast.expr) -> ast.BinOp | None:
    """``i % k`` of a test that holds in all iterations in which that is not 0."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and is_literal(test.comparators[0], 0):
        test = test.left if isinstance(test.ops[0], ast.NotEq | ast.Gt) else test
    return test if isinstance(test, ast.BinOp) and is_binary(test, ast.Mod) else None


def _skips(statement: ast.AST) -> bool:
    return isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Continue) and not statement.orelse


def _counted(branch: ast.If, around: list[ast.AST]) -> list[ast.expr]:
    """The ``k`` of ``if self.n >= k``, where the same function counts ``self.n`` up, and the branch sets it back."""
    function = first_of(reversed(around), ast.FunctionDef) or around[0]
    up = {ast.unparse(part.target) for part in ast.walk(function) if _counts_up(part)}
    back = {
        ast.unparse(target)
        for part in nodes_in(branch, ast.Assign)
        if isinstance(part.value, ast.Constant) and part.value.value == 0
        for target in part.targets
    }
    tests = [part for part in nodes_in(branch.test, ast.Compare) if len(part.ops) == 1]
    return [
        test.comparators[0]
        for test in tests
        if isinstance(test.ops[0], ast.Eq | ast.GtE) and ast.unparse(test.left) in up & back
    ]


def _counts_up(node: ast.AST) -> TypeGuard[ast.AugAssign]:
    if not isinstance(node, ast.AugAssign) or not isinstance(node.op, ast.Add):
        return False
    return isinstance(node.value, ast.Constant) and node.value.value == 1


def is_unconditional(analysis: Analysis, place: Site, points: list[LoopPoint]) -> bool:
    """Whether nothing but these loops decides how often something happens, and nothing leaves those early."""
    site: Site | None = place
    outermost = points[0].span if points else None
    while site is not None:
        statement = statement_of(analysis, site)
        if statement is None:
            return False
        for part in reversed(analysis.trail(site.span.path, statement)[:-1]):
            match part:
                case ast.If() | ast.While() | ast.Try() | ast.Match():
                    return False
                case ast.With() if is_region(part):
                    return False  # The accelerator decides with which batches it steps.
                case ast.For() | ast.FunctionDef() | ast.AsyncFunctionDef() if _leaves(part):
                    return False
                case ast.For() if site.source.span(part) == outermost:
                    return True  # What is around all loops decides whether this is reached, and it was.
            if is_definition(part):
                break
        site = caller_of(site)
    return True


def is_one_of_several(analysis: Analysis, event: Event, points: list[LoopPoint]) -> bool:
    """Whether the loops step different schedules in the same place."""
    same = [other.subject for other in analysis.events("scheduler_step") if other.site.span == event.site.span]
    call = event.site.node
    held = call.func.value if is_method_call(call) else None
    names = names_in(held) if held is not None else set()
    set_anew = {
        part.id
        for point in points
        if point.span.path == event.site.span.path
        for part in nodes_in(point.node, ast.Name)
        if stores(part)
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
    return any(part is not block.body[-1] for part in of_kind(ways, ast.Return, ast.Raise))


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


def product(sizes: Sequence[Value]) -> Size | None:
    result: Size = 1
    for size in sizes:
        if not is_int(size) or size is None:
            return None
        result = dims.multiply(result, size)
    return result


def batches_of(event: Event, points: list[LoopPoint], scheduler: LibraryObject) -> str | None:
    """``len(loader)``, where the loader of the innermost loop is known by a plain name, where the schedule is made, too."""
    assert scheduler.site is not None
    frame = scheduler.site.scene
    iterated = points[-1].node.iter if points and isinstance(points[-1].node, ast.For) else None
    if is_function_call(iterated) and iterated.args:
        iterated = iterated.args[0]
    loader = points[-1].loader if points else None
    for names in (frame.names, *frame.closure, frame.globals):
        for name, value in names.items():
            if loader is not None and value is loader and isinstance(name, str):
                return f"len({name})"
    same = event.site.scene == frame or event.site.scene.function is frame.function
    return f"len({ast.unparse(iterated)})" if same and is_reference(iterated) else None


def with_batches(
    event: Event, points: list[LoopPoint], scheduler: LibraryObject, value: ast.expr
) -> Iterator[Candidate]:
    """A number of epochs, where the schedule is made, times the number of batches."""
    assert scheduler.site is not None
    batches = batches_of(event, points, scheduler)
    if batches is not None:
        source = scheduler.site.source
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


_ROUNDED = frozenset({"int", "round", "floor", "ceil"})


def is_counted(analysis: Analysis, expression: ast.expr, scene: Scene, event: Event, loop: LoopPoint) -> bool:
    """Whether an expression is written as the number of a loop's iterations, or as a part of it: ``0.5 * epochs``."""
    bound = _bound(loop)
    if bound is None:
        return False
    holder: Scene | None = event.site.scene
    while holder is not None and not holds(holder, loop):
        holder = holder.caller
    return holder is not None and _is_part(analysis, expression, scene, bound, holder)


def holds(scene: Scene, loop: LoopPoint) -> bool:
    """Whether a loop is one of the statements of a function, or of a module."""
    node = scene.function.node if scene.function is not None else None
    if scene.path != loop.span.path:
        return False
    if node is None:
        return scene.caller is None
    return stands_on(node, loop.span.start.line)


def _bound(loop: LoopPoint) -> ast.expr | None:
    """The end of the range that a loop goes over."""
    over = loop.node.iter if isinstance(loop.node, ast.For) else None
    while isinstance(over, ast.Call) and over.args:
        name = last_word(over.func)
        if name in ("range", "trange"):
            end = over.args[min(len(over.args), 2) - 1]
            after = is_binary(end, ast.Add) and isinstance(end.right, ast.Constant)
            return end.left if after and isinstance(end, ast.BinOp) else end  # range(1, epochs + 1)
        over = over.args[0]
    return None


def _is_part(analysis: Analysis, expression: ast.expr, scene: Scene, bound: ast.expr, holder: Scene) -> bool:
    def part(inner: ast.expr) -> bool:
        return _is_part(analysis, inner, scene, bound, holder)

    match expression:
        case ast.List() | ast.Tuple():
            return bool(expression.elts) and all(map(part, expression.elts))
        case ast.Call():
            name = expression.func.attr if isinstance(expression.func, ast.Attribute) else ast.unparse(expression.func)
            return name in _ROUNDED and len(expression.args) == 1 and part(expression.args[0])
        case ast.BinOp():
            if isinstance(expression.op, ast.Mult):
                sides = ((expression.left, expression.right), (expression.right, expression.left))
                return any(part(one) and _is_fraction(other) for one, other in sides)
            return isinstance(expression.op, ast.Sub | ast.Div | ast.FloorDiv) and part(expression.left)
    wanted = list(_forms(analysis, bound, holder))
    return any(_same(one, other) for one in _forms(analysis, expression, scene) for other in wanted)


def counts_batches(analysis: Analysis, made: Site, loop: LoopPoint) -> ast.expr | None:
    """The expression by which a schedule is made for a step in each batch of a loop, ``epochs * len(loader)``: None where it is not
    written so, or is divided by something on the way."""
    pending = (
        [(node, made.scene) for node in (*made.call.args[1:], *(one.value for one in made.call.keywords))]
        if made.call
        else []
    )
    for length, scene in pending:
        parts = list(_expanded(analysis, length, scene))
        counts = [part for part, where in parts if _is_length_of(part, where, loop)]
        if counts and not any(is_binary(part, ast.Div, ast.FloorDiv) or last_word(part) == "ceil" for part, _ in parts):
            return length
    return None


def _expanded(analysis: Analysis, node: ast.expr, scene: Scene) -> Iterator[tuple[ast.expr, Scene]]:
    """The parts of an expression, and of what its variables were bound to, or given."""
    pending, seen = [(node, scene)], set[int]()
    while pending:
        current, where = pending.pop()
        for part in nodes_in(current, ast.expr):
            if id(part) not in seen:
                seen.add(id(part))
                yield part, where
                if isinstance(part, ast.Name):
                    pending += list(_forms(analysis, part, where))[1:]


def _is_length_of(node: ast.expr, scene: Scene, loop: LoopPoint) -> bool:
    """``len(loader)`` of the loader that a loop goes through."""
    if not is_function_call(node, "len") or not node.args:
        return False
    root = _root(node.args[0])
    if loop.loader is not None:
        return root is not None and isinstance(node.args[0], ast.Name) and _value(scene, root) is loop.loader
    over = loop.node.iter if isinstance(loop.node, ast.For) else None
    names = {ast.dump(part) for part in ast.walk(over) if is_reference(part)} if over is not None else set()
    return scene.path == loop.span.path and ast.dump(node.args[0]) in names


def _is_fraction(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and 0 < node.value <= 1


def _forms(analysis: Analysis, node: ast.expr, scene: Scene) -> Iterator[tuple[ast.expr, Scene]]:
    """How a number is written: here, where the variable was bound, and in the calls that pass it on."""
    for _ in range(_MAX_CALLERS):
        yield node, scene
        function, call = scene.function, scene.call
        if not isinstance(node, ast.Name):
            return
        bound = last_assignment(analysis, node, scene.site(node))
        if bound is not None:
            node = bound
            continue
        if function is None:
            return
        given = _argument(function, call, node.id)
        if given is None or scene.caller is None:
            return
        node, scene = given, scene.caller


_MAX_CALLERS = 6


def _argument(function: Function, call: ast.Call | None, name: str) -> ast.expr | None:
    """The argument of a call for a parameter."""
    parameters = [parameter.arg for parameter in by_position(function.node.args)]
    if call is None or is_spread(call.args):
        return None
    named = argument_of(call, None, name)
    if named is not None or name not in parameters:
        return named
    place = parameters.index(name) - (function.owner is not None and parameters[:1] == ["self"])
    return call.args[place] if 0 <= place < len(call.args) else None


def _same(one: tuple[ast.expr, Scene], other: tuple[ast.expr, Scene]) -> bool:
    """Whether two expressions name the same thing: a variable, or an attribute or entry of one."""
    names = [_root(node) for node, _ in (one, other)]
    if None in names or ast.dump(one[0]) != ast.dump(other[0]):
        return False
    values = [_value(scene, name) for name, (_, scene) in zip(names, (one, other)) if name is not None]
    return values[0] is values[1] and values[0] is not None


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _value(scene: Scene, name: str) -> object:
    for names in (scene.names, *scene.closure, scene.globals):
        if name in names:
            return names[name]
    return None
