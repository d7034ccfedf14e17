"""Shared by the rules about training loops: which optimizer a step belongs to, which modules it trains, where statements are."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterable, Iterator
from typing import TypeGuard

from torchsleuth.interp.library.frameworks import is_ours
from torchsleuth.interp.library.hierarchy import descendants, has_own_parameters, parts_of
from torchsleuth.interp.library.optim import given_to, trained_parts
from torchsleuth.interp.trace import Event, LoopPoint, Operation
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    callee,
    is_attribute,
    is_binary,
    is_definition,
    is_function_call,
    is_method_call,
    is_name,
    is_reference,
    names_in,
    stands_on,
    stores,
)
from torchsleuth.syntax.trees import index
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import (
    Function,
    Instance,
    LibraryModule,
    LibraryObject,
    Parameters,
    Site,
    Tensor,
    Value,
    is_unknown,
)
from torchsleuth.values.frames import Scene

_COLLECTING = frozenset("append extend add insert put update write".split())


def modules_of(optimizer: Value) -> list[Value]:
    """The modules whose parameters an optimizer was given, as far as they are known."""
    if not isinstance(optimizer, LibraryObject):
        return []
    return [module for given in of_kind(given_to(optimizer), Parameters) for module in given.modules]


def trained_by(optimizer: Value, module: Value) -> bool:
    """Whether an optimizer was given parameters of the module."""
    return bool(optimizers_of([optimizer], [module]))


def is_trained(analysis: Analysis, module: Value) -> bool:
    """Whether some optimizer was given parameters of the module."""
    return any(trained_by(optimizer, module) for optimizer in analysis.trace.optimizers)


def optimizers_of(optimizers: Iterable[Value], modules: Iterable[Value]) -> set[int]:
    """The identities of those optimizers that were given parameters of one of the modules."""
    known = of_kind(modules, LibraryModule, Instance)
    wholes = {id(module) for module in known}
    holders = {id(part) for module in known for part in parts_of(module)}
    found: set[int] = set()
    for optimizer in of_kind({id(optimizer): optimizer for optimizer in optimizers}.values(), LibraryObject):
        given = (part for part in trained_parts(optimizer) if isinstance(part, Tensor) or has_own_parameters(part))
        whole = (part for module in modules_of(optimizer) for part in descendants(module))
        if any(id(part) in wholes for part in whole) or any(id(part) in holders for part in given):
            found.add(optimizer.identity)
    return found


def draws_again(event: Event) -> bool:
    """Whether a loop repeats a call with the same arguments, to draw from what is random in it."""
    point = event.loops[-1] if event.loops else None
    frame: Scene | None = event.site.scene
    node: ast.AST | None = event.site.node
    while point is not None and frame is not None and node is not None:
        if frame.path == point.span.path and node in index(point.node).parents:
            changing = {part.id for part in ast.walk(point.node) if _is_assigned(part)}
            names = names_in(node)
            return not names & changing
        node, frame = frame.call, frame.caller
    return False


def _is_assigned(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and stores(node)


def is_used(analysis: Analysis, event: Event) -> bool:
    """Whether something is done with the result of a call: not where it is a statement of its own, or only printed."""
    statement = as_kind(statement_of(analysis, event.site), ast.Expr)
    if statement is None:
        return True
    call = callee(statement.value)
    return is_attribute(call, *_COLLECTING)


def innermost(event: Event) -> LoopPoint | None:
    return event.loops[-1] if event.loops else None


def statement_of(analysis: Analysis, site: Site) -> ast.stmt | None:
    """The statement in the rule's tree that holds a recorded expression."""
    within, node = analysis.index(site.span.path), site.node
    begin = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    part: ast.AST | None = within.same(node) if begin[0] else None
    while part is not None and not (isinstance(part, ast.stmt) and (part.lineno, part.col_offset) <= begin):
        part = within.parents.get(part)
    return part


def loop_statement(analysis: Analysis, point: LoopPoint) -> ast.stmt | None:
    found = analysis.index(point.span.path).same(point.node)
    return as_kind(found, ast.For, ast.While)


def receiver_text(site: Site) -> str | None:
    """The expression before the dot of a method call: ``optimizer`` in ``optimizer.step()``."""
    node = site.node
    if is_method_call(node):
        return site.source.segment(node.func.value)
    return None


def is_simple(statement: ast.stmt, analysis: Analysis, path: str) -> bool:
    """Whether the statement has its first line to itself, so that a line can be put before it."""
    source = analysis.source_of(path)
    before = source.line(statement.lineno)[: source.start_of(statement).column - 1]
    return not before.strip()


def is_alone(statement: ast.stmt, analysis: Analysis, path: str) -> bool:
    """Whether the statement has a line to itself, but for a comment, so that the line can be moved."""
    source = analysis.source_of(path)
    rest = source.line(statement.lineno)[source.end_of(statement).column - 1 :].strip()
    one = statement.lineno == statement.end_lineno
    return one and is_simple(statement, analysis, path) and (not rest or rest.startswith("#"))


def place_in(site: Site, function: Function | None) -> Site | None:
    """Where something happens as seen from a function: in its own body, or at the call that leads there."""
    frame: Scene | None = site.scene
    node: ast.AST | None = site.node
    while frame is not None and node is not None:
        if frame.function is function:
            return frame.site(node)
        node, frame = frame.call, frame.caller
    return None


def name_in(frame: Scene, value: Value) -> str | None:
    """The name of a value in a function: a variable, or an attribute of self."""
    for names in (frame.names, *frame.closure, frame.globals):
        for name, one in names.items():
            if one is value:
                return str(name)
    receiver = frame.instance()
    if receiver is not None:
        return next((f"self.{name}" for name, one in receiver.slots.items() if one is value), None)
    return None


def called_text(event: Event) -> str | None:
    """The module as it is written in its call: ``self.model`` in ``self.model(x)``."""
    node = event.site.call
    if node is None:
        return None
    function = node.func
    if is_attribute(function, "forward"):
        function = function.value
    plain = is_reference(function)
    return event.site.source.segment(function) if plain else None


def enclosing_block(analysis: Analysis, event: Event) -> ast.stmt | None:
    """The outermost ``with`` and ``for`` statement around an event that holds no backward() and no step(), or else its
    own statement."""
    path = event.site.span.path
    statement = statement_of(analysis, event.site)
    if statement is None:
        return None
    trail = analysis.trail(path, statement)
    busy = [
        e.site.span.start.line
        for e in analysis.trace.events
        if e.kind in ("backward", "step") and e.site.span.path == path
    ]
    best = statement
    for part in reversed(trail):
        match part:
            case ast.FunctionDef() | ast.ClassDef() | ast.Module():
                break
            case ast.With() | ast.For() | ast.While() | ast.If():
                if any(stands_on(part, line) for line in busy):
                    break
                if isinstance(part, ast.With | ast.For):
                    best = part
    return best


_ARGUMENTS = {"train": 1, "eval": 1, "load_state_dict": 3}
"""Arguments that a method of this name takes at most, where it is PyTorch's."""


def unseen(analysis: Analysis, method: str) -> bool:
    """Whether the files hold a call ``x.method()`` that the analysis did not see: in a branch it did not take, or on a
    value of which it does not know what the method does."""
    seen = {event.site.span for event in analysis.trace.events} | analysis.trace.own_calls
    starts = {(span.path, span.start) for span in seen}
    paths = {analysis.source.path, *(event.site.span.path for event in analysis.trace.events)}
    paths = {path for path in paths if not is_ours(path)}
    for path in paths:
        source = analysis.source_of(path)
        for node in analysis.index(path).nodes:
            if not is_method_call(node, method):
                continue
            if len(node.args) > _ARGUMENTS.get(method, 0) or (path, source.start_of(node)) in starts:
                continue
            if not _is_replaced(analysis, path, node):
                return True
    return False


def _is_replaced(analysis: Analysis, path: str, node: ast.AST) -> bool:
    """Whether a place is in a method that every class derived from its own defines anew, while nothing is made of that
    class itself."""
    trail = analysis.index(path).trail(node)
    within = of_kind(trail, ast.ClassDef, ast.FunctionDef)
    if len(within) < 2 or not isinstance(within[0], ast.ClassDef) or not isinstance(within[1], ast.FunctionDef):
        return False
    owner, method = within[0], within[1]
    derived = [part for part in analysis.index(path).of_type(ast.ClassDef) if _derives(part, owner)]
    for part in analysis.index(path).nodes:
        if is_function_call(part, owner.name):
            return False
        if is_attribute(part, method.name):
            if not isinstance(part.value, ast.Name) or part.value.id == owner.name:
                return False  # super().update(), Base.update
    return bool(derived) and all(_defines(part, method.name) for part in derived)


def _derives(derived: ast.ClassDef, owner: ast.ClassDef) -> bool:
    return any(is_name(base, owner.name) for base in derived.bases)


def _defines(owner: ast.ClassDef, method: str) -> bool:
    return any(part.name == method for part in of_kind(owner.body, ast.FunctionDef))


def uncalled(analysis: Analysis, path: str, name: str, method: str) -> ast.Expr | None:
    """The statement ``name.method``, of which the parentheses are missing."""
    for node in analysis.index(path).of_type(ast.Expr):
        if is_attribute(node.value, method):
            if ast.unparse(node.value.value) == name:
                return node
    return None


def optimizer_text(analysis: Analysis, step: Event) -> str | None:
    """The optimizer as it is written where it steps: in ``optimizer.step()`` or ``scaler.step(optimizer)``."""
    node = step.site.call
    source = step.site.source
    if any(event.site.span == step.site.span for event in analysis.events("scaler_step")):
        return source.segment(node.args[0]) if node is not None and node.args else None
    return receiver_text(step.site)


def recurs(analysis: Analysis, event: Event) -> bool:
    """Whether an event happens again and again in its loop: always, or every so often (``i % k``), or whenever a value
    is finite; and the loop goes on afterwards."""
    if event.certain:
        return True
    tests: list[ast.expr] = []
    site: Site | None = event.site
    while site is not None:
        statement = statement_of(analysis, site)
        if statement is None:
            return False
        for part in reversed(analysis.trail(site.span.path, statement)):
            if isinstance(part, ast.For | ast.While):
                site = None
                break
            if is_definition(part):
                break
            if isinstance(part, ast.If):
                tests.append(part.test)
                if any(
                    isinstance(block[-1], ast.Break | ast.Return | ast.Raise)
                    for block in (part.body, part.orelse)
                    if block
                ):
                    return False
        site = caller_of(site) if site is not None else None
    return bool(tests) and all(any(_is_periodic(node, event) for node in ast.walk(test)) for test in tests)


def caller_of(site: Site) -> Site | None:
    """The call that led to the function in which something happens."""
    frame, node = site.scene.caller, site.scene.call
    return frame.site(node) if frame is not None and node is not None else None


def _is_periodic(node: ast.AST, event: Event) -> bool:
    """Whether a condition comes true again. ``i % k`` need not where the loop has at most `k` iterations."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in ("isfinite", "isnan", "isinf")
    if not is_binary(node, ast.Mod):
        return False
    counts = [point.count for point in event.loops]
    period = held(node.right, event.site.scene)
    if not is_number(period):
        return True
    return None in counts or math.prod(count or 0 for count in counts) > period


def repeated(operation: Operation, times: int = 2) -> bool:
    """Whether an operation is done in loops, at least so many times in all as far as their counts are known."""
    counts = [point.count for point in operation.loops]
    return bool(counts) and (None in counts or math.prod(count or 0 for count in counts) >= times)


def made_alike(one: Value, other: Value) -> bool:
    """Whether two modules are one, or copies of one."""
    site = getattr(one, "site", None)
    return one is other or (site is not None and site is getattr(other, "site", None))


def same_block(analysis: Analysis, one: Event, other: Event) -> bool:
    """Whether two events are in statements of one block, so that both happen or none."""
    first, second = statement_of(analysis, one.site), statement_of(analysis, other.site)
    if one.site.scene != other.site.scene or first is None or second is None:
        return False
    return any(first in block and second in block for block in blocks_of(analysis.tree(one.site.span.path)))


def gone_through(loop: ast.For, around: Collection[str]) -> ast.expr:
    """The iterable of a loop, without the functions `around` that it is handed through: ``loader`` of ``enumerate(loader)``."""
    node = loop.iter
    while isinstance(node, ast.Call) and called(node) in around and node.args:
        node = node.args[0]
    return node


def blocks_of(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a tree."""
    for node in index(tree).nodes:
        yield from own_blocks(node)


def own_blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of one node."""
    for name in ("body", "orelse", "finalbody"):
        block = as_kind(getattr(node, name, None), list)
        if block is not None:
            yield block


def common_loop(one: Event, other: Event) -> LoopPoint | None:
    """The innermost execution of a loop in which both events happened."""
    pairs = [pair for pair in zip(one.loops, other.loops) if pair[0].execution == pair[1].execution]
    return pairs[-1][0] if pairs else None


def within(event: Event, point: LoopPoint) -> bool:
    """Whether an event happened in some iteration of that execution of a loop."""
    return any(other.execution == point.execution for other in event.loops)


def same_iteration(one: Event, other: Event) -> bool:
    """Whether two events happened in the same iteration of the loops around the first."""
    where = [(point.execution, point.iteration) for point in one.loops]
    return where == [(point.execution, point.iteration) for point in other.loops[: len(where)]]


def covers(mode: Event, module: Value) -> bool:
    """Whether a call of train() or eval() reaches a module."""
    return is_unknown(mode.subject) or any(part is module for part in descendants(mode.subject))


__all__ = [
    "blocks_of",
    "called_text",
    "caller_of",
    "common_loop",
    "covers",
    "draws_again",
    "edits",
    "enclosing_block",
    "innermost",
    "is_alone",
    "is_simple",
    "is_used",
    "loop_statement",
    "made_alike",
    "modules_of",
    "name_in",
    "optimizer_text",
    "own_blocks",
    "place_in",
    "receiver_text",
    "recurs",
    "same_block",
    "same_iteration",
    "statement_of",
    "trained_by",
    "uncalled",
    "unseen",
    "within",
]
