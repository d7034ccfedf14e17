"""hooks-pile-up: a hook that is registered in each step, and never removed.

What it finds
    `register_forward_hook(…)` and its like, whose handle is dropped, again and again on a module that is used in the same loop: in the
    loop itself, in a function that it calls, or in a context manager that it enters. A class that registers hooks without keeping their
    handles, and that removes the handles in a list which nothing is put into. The same hook that two places put on one module, such as
    two cells of a notebook, in a file that removes none.
Why it hurts
    Each step adds one more hook, and all of them are called from then on. Steps become slower and slower, what the hooks keep
    fills the memory, and what they count is counted many times.
Example
    for x, y in loader:
        model.layer.register_forward_hook(watch)
        out = model(x)
Use instead
    for x, y in loader:
        handle = model.layer.register_forward_hook(watch)
        out = model(x)
        handle.remove()
Fix safety
    Safe where the object has a list of handles that it removes: the handle is put into it.
References
    torch.nn.Module.register_forward_hook, torch.utils.hooks.RemovableHandle
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants
from torchsleuth.interp.trace import LibraryCall, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.iterations import next_iteration
from torchsleuth.rules.evidence.loops import is_alone, statement_of, within
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_attribute,
    is_binding,
    is_definition,
    is_dotted,
    is_function_call,
    is_method_call,
    is_name,
    loads,
    nodes_in,
    plain_name,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import Function, is_module

CODE = "TS707"
_REGISTERS = (
    "register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook "
    "register_backward_hook"
).split()
_HELD = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
"""Attributes of a module that hold its hooks."""


def find(analysis: Analysis) -> Iterator[Finding]:
    before: dict[tuple[Span, int], LibraryCall] = {}
    reported: set[Span] = set()
    for call in (one for name in _REGISTERS for one in analysis.calls.get(f"torch.nn.Module.{name}", ())):
        key = (call.site.span, id(call.receiver))
        last, before[key] = before.get(key), call
        point = next_iteration(last.loops, call.loops) if last is not None else None
        if point is None or call.site.span in reported or not call.certain or not _is_dropped(analysis, call):
            continue
        if _is_called(analysis, call, point) and not _is_cleared(analysis, call):
            reported.add(call.site.span)
            places = (point.span.related(message("hooks.loop")),)
            text = message("hooks.pile", method=call.name, line=point.span.start.line)
            yield Finding(call.site.span, text, places, tuple(_kept(analysis, call)))
    yield from _unfilled(analysis, reported)
    yield from _twice(analysis, reported)


def _twice(analysis: Analysis, reported: set[Span]) -> Iterator[Finding]:
    """The same hook, put on one module in two places, of which the first is still there when the module is called."""
    before: dict[tuple[str, int, str], LibraryCall] = {}
    for call in (one for name in _REGISTERS for one in analysis.calls.get(f"torch.nn.Module.{name}", ())):
        hook = call.given(0, "hook")
        if not isinstance(hook, Function) or not is_module(call.receiver) or not call.certain:
            continue
        first = before.setdefault((call.name, id(call.receiver), ast.dump(hook.node)), call)
        again = first.site.span != call.site.span and first.site.scene.function is call.site.scene.function
        if not again or call.site.span in reported or _removes_some(analysis, call) or _is_cleared(analysis, call):
            continue
        later = [event for event in analysis.events("forward") if event.index >= call.after]
        parts = [part for event in later if is_module(event.subject) for part in descendants(event.subject)]
        if any(part is call.receiver for part in parts):
            reported.add(call.site.span)
            places = (first.site.span.related(message("hooks.first")),)
            yield Finding(call.site.span, message("hooks.twice"), places, tuple(_first_removed(analysis, first, call)))


def _removes_some(analysis: Analysis, call: LibraryCall) -> bool:
    return any(is_attribute(one, "remove") for one in analysis.index(call.site.span.path).of_type(ast.Attribute))


def _first_removed(analysis: Analysis, first: LibraryCall, second: LibraryCall) -> Iterator[Candidate]:
    """``handle.remove()`` in front of the second place, where the first one has a name."""
    one, other = statement_of(analysis, first.site), statement_of(analysis, second.site)
    path = second.site.span.path
    if is_binding(one) and other is not None and is_alone(other, analysis, path) and path == first.site.span.path:
        line = f"{one.targets[0].id}.remove()"
        edit = edits.insert_line_before(analysis.source_of(path), other, line)
        yield Candidate(message("fix.insert", text=line), (edit,))


def _unfilled(analysis: Analysis, reported: set[Span]) -> Iterator[Finding]:
    """Hooks of a class that removes the handles in a list of its own, which stays empty."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    for owner in index.of_type(ast.ClassDef):
        calls = [one for one in nodes_in(owner, ast.Call) if is_method_call(one, *_REGISTERS)]
        dropped = [one for one in calls if isinstance(index.parents.get(one), ast.Expr)]
        loops = [one for one in nodes_in(owner, ast.For) if is_dotted(one.iter, "self") and _removes(one)]
        if not loops or not calls or len(dropped) < len(calls) or owner.bases:
            continue
        held = ast.unparse(loops[0].iter)
        pairs = [pair for one in nodes_in(owner, ast.Assign) for pair in assigned_pairs(one)]
        made = [value for target, value in pairs if ast.unparse(target) == held]
        read = [one for one in nodes_in(owner, ast.Attribute) if loads(one) and ast.unparse(one) == held]
        empty = bool(made) and all(isinstance(one, ast.List) and not one.elts for one in made)
        plain = all(
            isinstance(outer := index.parents.get(one), ast.For) or is_attribute(outer, "clear") for one in read
        )
        for call in dropped if empty and plain else ():
            if source.span(call) not in reported:
                places = (source.span(loops[0].iter).related(message("hooks.removed")),)
                text = message("hooks.unfilled", handles=held, method=called(call))
                yield Finding(source.span(call), text, places, (_put(source, call, held),))


def _is_dropped(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether nothing is done with the handle, or no hook is ever removed in the file."""
    index = analysis.index(call.site.span.path)
    node = index.same(call.site.node)
    kept = not isinstance(index.parents.get(node), ast.Expr) if node is not None else True
    removed = any(is_attribute(one, "remove") for one in index.of_type(ast.Attribute))
    return node is not None and not (kept and (removed or _leaves(analysis, call)))


def _leaves(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether a handle is returned from where it was made, or given to what is not a list: others may remove the hook."""
    index = analysis.index(call.site.span.path)
    node = index.same(call.site.node)
    outer = index.parents.get(node) if node is not None else None
    if is_method_call(outer, "append"):
        return False
    function = (
        next((one for one in reversed(index.trail(node)) if is_definition(one)), None) if node is not None else None
    )
    name = outer.targets[0].id if is_binding(outer) else None
    return name is None or function is None or any(is_name(one, name) and loads(one) for one in ast.walk(function))


def _is_called(analysis: Analysis, call: LibraryCall, point: LoopPoint) -> bool:
    """Whether the module is used in the loop, as a part of what is called there."""
    for event in analysis.events("forward"):
        if within(event, point) and is_module(event.subject):
            if any(part is call.receiver for part in descendants(event.subject)):
                return True
    return False


def _is_cleared(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether a file speaks of what holds the hooks of a module."""
    paths = {analysis.source.path, call.site.span.path}
    for index in map(analysis.index, paths):
        for node in index.of_type(ast.Attribute):
            if is_attribute(node, *_HELD) and not is_function_call(index.parents.get(node), "len"):
                return True
    return False


def _kept(analysis: Analysis, call: LibraryCall) -> Iterator[Candidate]:
    """The handle put into the list of handles that another method removes."""
    source, index = call.site.source, analysis.index(call.site.span.path)
    node = index.same(call.site.node)
    trail = index.trail(node) if node is not None else []
    owner = next((one for one in reversed(trail) if isinstance(one, ast.ClassDef)), None)
    for loop in nodes_in(owner, ast.For) if owner is not None else ():
        if isinstance(node, ast.expr) and is_dotted(loop.iter) and _removes(loop):
            yield _put(source, node, source.segment(loop.iter))
            return


def _put(source: SourceText, node: ast.expr, handles: str) -> Candidate:
    """``self.handles.append(layer.register_forward_hook(watch))``"""
    text = f"{handles}.append({source.segment(node)})"
    title = message("fix.replace", old=source.on_one_line(node), new=text)
    return Candidate(title, (edits.replace(source, node, text),))


def _removes(loop: ast.For) -> bool:
    """``for handle in self.handles: handle.remove()``"""
    name = plain_name(loop.target)
    calls = (one for one in nodes_in(loop, ast.Call) if is_method_call(one, "remove"))
    return any(is_method_call(one) and is_name(one.func.value, name) for one in calls)


RULE = Rule(FAULTS[CODE], find)
