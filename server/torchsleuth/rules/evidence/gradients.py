"""Which backward() gives gradients to which optimizer, and where a script reads or changes ``.grad`` by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.library.optim import given_to, trained_parts
from torchsleuth.interp.trace import LOOP_METHODS, Event, LoopPoint
from torchsleuth.rules.evidence.loops import trained_by
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import as_kind, first_of, of_kind
from torchsleuth.syntax.forms import callee, is_name, last_word, loads
from torchsleuth.syntax.trees import index
from torchsleuth.values import LibraryObject, Site, Tensor, Value, is_unknown

_ALIASES = frozenset("data detach view reshape flatten squeeze unsqueeze T t contiguous".split())
"""Attributes and methods of a gradient that give the same memory again."""
_READERS = frozenset("print isnan isinf isfinite norm all any abs allclose stack cat tensor float len str repr".split())
"""Functions that look at a gradient and leave it as it is."""
_HOOKS = frozenset(
    "register_hook register_post_accumulate_grad_hook register_multi_grad_hook register_full_backward_hook "
    "register_step_pre_hook register_step_post_hook".split()
)
"""Methods that hand gradients, or the moment of a step, to a function."""


def feeds(backward: Event, optimizer: Value) -> bool | None:
    """Whether a backward() computes gradients for parameters of an optimizer; None where that is not known."""
    if backward.node is None:
        return None
    reached, whole = backward.node.reached
    parts = trained_parts(optimizer)
    if any(id(part) in reached for part in parts):
        return True
    # A tensor that was joined with itself, or with another, is another one: it is known by where it was made.
    made = {part.origin.site.span for part in of_kind(parts, Tensor) if part.origin is not None}
    leaves = (leaf for node in backward.node.members for leaf in node.leaves)
    if any(leaf.origin is None or leaf.origin.site.span in made for leaf in leaves if made):
        return None
    return None if not whole or any(is_unknown(given) for given in given_to(optimizer)) else False


def may_clear(event: Event, optimizer: LibraryObject) -> bool:
    """Whether an event clears gradients of parameters of an optimizer, or may do so."""
    if event.kind != "zero_grad":
        return False
    if isinstance(event.subject, LibraryObject):
        given = {id(part) for part in trained_parts(optimizer)}
        return event.subject is optimizer or any(id(part) in given for part in trained_parts(event.subject))
    if is_unknown(event.subject) or trained_by(optimizer, event.subject):
        return True
    return any(is_unknown(given) for given in given_to(optimizer))


def reads_gradients(analysis: Analysis) -> bool:
    """Whether the files use ``.grad`` of some tensor in any way."""
    if bool(analysis.events("grad_touched")):
        return True
    return any(True for path in _paths(analysis) for _ in _uses(analysis.tree(path)))


def reads_gradients_in(analysis: Analysis, point: LoopPoint) -> bool:
    """Whether a loop uses ``.grad`` of some tensor in any way, itself or in what it calls."""
    inside = analysis.events_within(point)
    if any(event.kind == "grad_touched" for event in inside):
        return True
    loop = analysis.index(point.span.path).same(point.node)
    reached = {point.span.path: _reached(analysis.tree(point.span.path), loop)} if loop is not None else {}
    sites = [site for event in inside for site in _chain(event.site)]
    for site in sites:
        function = site.scene.function
        if function is not None:
            found = analysis.index(function.path).same(function.node)
            reached.setdefault(function.path, set()).update([function.name] if found is not None else [])
    for path, names in reached.items():
        for use in _uses(analysis.tree(path)):
            around = first_of(use, ast.FunctionDef)
            if loop in use or (around is not None and around.name in names and loop not in set(ast.walk(around))):
                return True
    return False


def _chain(site: Site) -> Iterator[Site]:
    """A place, and the calls that led there."""
    frame = site.scene
    yield site
    while frame.caller is not None and frame.call is not None:
        call, frame = frame.call, frame.caller
        yield frame.site(call)


def _reached(tree: ast.Module, loop: ast.AST) -> set[str]:
    """The names of the functions of a file that a loop calls, or what it calls. What optimizers have as methods is theirs."""
    functions = {node.name: node for node in index(tree).of_type(ast.FunctionDef)}
    found: set[str] = set()
    pending: list[ast.AST] = [loop]
    while pending:
        for part in ast.walk(pending.pop()):
            function = callee(part)
            name = last_word(function)
            if name in functions and name not in found and name not in LOOP_METHODS:
                found.add(name)
                pending.append(functions[name])
    return found


def changes_gradients(analysis: Analysis) -> bool:
    """Whether the files set, clear or change ``.grad``, or hand it on to where that may happen."""
    return any(_changes(use) for path in _paths(analysis) for use in _uses(analysis.tree(path)))


def _paths(analysis: Analysis) -> set[str]:
    sites = [event.site for event in analysis.trace.events] + [call.site for call in analysis.trace.calls]
    return {analysis.source.path, *(site.span.path for site in sites)}


def _uses(tree: ast.Module) -> Iterator[list[ast.AST]]:
    """Each ``x.grad`` and each hook with the nodes around it, from the inside to the outside."""
    nodes = index(tree)
    for name in nodes.of_type(ast.Attribute):
        around = as_kind(nodes.parents[name], ast.Call)
        called = around is not None and around.func is name
        if name.attr in _HOOKS or (name.attr == "grad" and not called):
            yield nodes.trail(name)[::-1]
    for constant in nodes.of_type(ast.Constant):
        if constant.value == "grad":
            yield nodes.trail(constant)[::-1]


def _changes(use: list[ast.AST]) -> bool:
    node, *around = use
    match node:
        case ast.Constant():
            names = [part.func for part in of_kind(around[:1], ast.Call)]
            return any(is_name(name, "setattr", "delattr") for name in names)
        case ast.Attribute() if not loads(node) or node.attr in _HOOKS:
            return True
    for parent in around:
        if isinstance(parent, ast.Attribute):
            if parent.attr.endswith("_") or not loads(parent):
                return True
            if parent.attr not in _ALIASES:
                return False
        elif isinstance(parent, ast.Call) and parent.func is not node:
            name = last_word(parent.func)
            return name not in _READERS
        elif (
            isinstance(parent, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.BinOp | ast.JoinedStr | ast.FormattedValue)
            or isinstance(parent, ast.If | ast.While | ast.IfExp)
            and parent.test is node
        ):
            return False
        elif (
            isinstance(parent, ast.Subscript) and not loads(parent) or not isinstance(parent, ast.Call | ast.Subscript)
        ):
            return True
        node = parent
    return True
