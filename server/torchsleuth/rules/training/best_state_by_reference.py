"""best-state-by-reference: the best weights are remembered by reference and overwritten by training.

What it finds
    `best = model.state_dict()`, or `best_model = model`, under a condition in a training loop, where `best` is read after
    the loop, or kept by an object; also states that are collected in a list or dict, such as those of the clients that
    train one model in turn, and shallow copies of them; and a state that the same model is to get back after training, such
    as the initial one in front of each fold.
Why it hurts
    state_dict() holds the parameters themselves. The optimizer, and load_state_dict(), change them in place, so the
    "best" state is always the latest one, and all states of a list are the same.
Example
    if accuracy > best_accuracy:
        best_state = model.state_dict()
Use instead
    if accuracy > best_accuracy:
        best_state = copy.deepcopy(model.state_dict())
Fix safety
    Safe: only the copy is new.
References
    torch.nn.Module.state_dict, "Saving and loading models"
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile, pairwise

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import parts_of
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import modules_of, name_in, trained_by
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import any_are, as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    callee,
    is_assignment,
    is_attribute,
    is_display,
    is_dotted,
    is_method_call,
    is_name,
    loads,
    names_in,
    nodes_in,
    parts_of_tuple,
    stored_in,
    targets_of,
)
from torchsleuth.tensors.device import CPU
from torchsleuth.values import LibraryModule, Value
from torchsleuth.values.frames import Scene

CODE = "TS517"
_LOAD = "torch.nn.Module.load_state_dict"
_SHALLOW = frozenset({"copy.copy", "copy", "dict", "OrderedDict", "collections.OrderedDict"})


@dataclass(frozen=True)
class _Place:
    """An expression in a file: the nodes around it, from the module inwards, and itself."""

    path: str
    trail: tuple[ast.AST, ...]

    @property
    def node(self) -> ast.AST:
        return self.trail[-1]

    @property
    def statement(self) -> ast.stmt:
        return of_kind(reversed(self.trail), ast.stmt)[0]

    @property
    def wrappers(self) -> list[ast.AST]:
        """The nodes around the expression in its statement, from the inside."""
        return list(reversed(self.trail[self.trail.index(self.statement) + 1 : -1]))

    @property
    def blocks(self) -> list[ast.AST]:
        """The statements around, from the inside to the function that they are in."""
        found: list[ast.AST] = []
        for part in reversed(self.trail[: self.trail.index(self.statement)]):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                return [*found, part]
            found.append(part)
        return found


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[object] = set()
    for call in analysis.calls.get("torch.nn.Module.state_dict", ()):
        if call.site.span in reported or not _changed_after(analysis, call, None):
            continue
        kept = _kept(analysis, call)
        if kept is not None and _changed_after(analysis, call, kept):
            target = kept.target
            reported.add(call.site.span)
            name = analysis.source_of(kept.place.path).segment(target)
            text = message("state.reference", name=f"`{name}`")
            yield Finding(call.site.span, text, (), (_copied(analysis, call.site.span.path, call.site.node),))
    yield from _loaded_back(analysis, reported)
    yield from _whole_models(analysis)
    yield from _of_holders(analysis, reported)


def _loaded_back(analysis: Analysis, reported: set[object]) -> Iterator[Finding]:
    """``start = model.state_dict()``, which the same model is to get back after training."""
    loads = analysis.calls.get(_LOAD, ())
    for call in analysis.calls.get("torch.nn.Module.state_dict", ()):
        back = [load for load in loads if load.receiver is call.receiver and load.given(0, "state_dict") is call.result]
        later = [load for load in back if load.certain and _is_trained_between(analysis, call, load)]
        node = later[0].site.call if later else None
        given = node.args[0] if node is not None and node.args else None
        if isinstance(given, ast.Name | ast.Attribute) and call.site.span not in reported:
            reported.add(call.site.span)
            text = message("state.loaded_back", name=f"`{ast.unparse(given)}`", line=later[0].site.span.start.line)
            places = (later[0].site.span.related(message("state.loaded_back.here")),)
            fixes = (_copied(analysis, call.site.span.path, call.site.node),)
            yield Finding(call.site.span, text, places, fixes)


def _is_trained_between(analysis: Analysis, taken: LibraryCall, load: LibraryCall) -> bool:
    """Whether an optimizer changes the module after its state was taken and before it is loaded, this time or the next one around."""
    around = {point.execution for point in load.loops} - {point.execution for point in taken.loops}
    steps = [event for event in analysis.events("step") if event.index >= taken.after]
    between = [
        event for event in steps if event.index < load.after or around & {point.execution for point in event.loops}
    ]
    return any(event.certain and trained_by(event.subject, taken.receiver) for event in between)


def _of_holders(analysis: Analysis, reported: set[object]) -> Iterator[Finding]:
    """A class that keeps the best state of whatever it is given, in one method, and loads it in another one."""
    source = analysis.source
    for owner in analysis.index(source.path).of_type(ast.ClassDef):
        loaded = {
            ast.unparse(part.args[0]): method
            for method in of_kind(owner.body, ast.FunctionDef)
            for part in nodes_in(method, ast.Call)
            if is_method_call(part, "load_state_dict") and part.args and is_dotted(part.args[0])
        }
        for method in of_kind(owner.body, ast.FunctionDef) if loaded else ():
            for better in nodes_in(method, ast.If):
                for part in of_kind(better.body, ast.Assign):
                    state, name = part.value, ast.unparse(part.targets[0])
                    if not is_method_call(state, "state_dict") or source.span(state) in reported:
                        continue
                    if loaded.get(name, method) is not method and _sets_what_it_asks(better):
                        text = message("state.reference", name=f"`{name}`")
                        yield Finding(source.span(state), text, (), (_copied(analysis, source.path, state),))


def _sets_what_it_asks(better: ast.If) -> bool:
    """``if loss < self.best: self.best = loss``"""
    asked = {ast.unparse(part) for part in nodes_in(better.test, ast.Attribute)}
    return any(ast.unparse(target) in asked for part in of_kind(better.body, ast.Assign) for target in part.targets)


@dataclass(frozen=True)
class _Kept:
    """Where a state stays: a variable or attribute, and the place that brings it there."""

    place: _Place
    target: ast.expr


def _changed_after(analysis: Analysis, call: LibraryCall, kept: _Kept | None) -> bool:
    """Whether an optimizer, or another state that is loaded, changes the module in the same loop after its state was taken:
    in the one around the place where a variable gets it, as that begins anew with the function."""
    points = call.loops
    if kept is not None and isinstance(_owner(kept.target), ast.Name):
        around = {*_loops_before_read(analysis, kept), *kept.place.wrappers}
        points = tuple(point for point in points if analysis.index(point.span.path).same(point.node) in around)
    executions = {point.execution for point in points}
    if any(
        event.kind == "step"
        and event.index >= call.after
        and executions & {point.execution for point in event.loops}
        and trained_by(event.subject, call.receiver)
        for event in analysis.trace.events
    ):
        return True
    later = dropwhile(lambda one: one is not call, analysis.trace.calls)
    loads = (one for one in later if one.path == _LOAD and one.receiver is call.receiver)
    return any(executions & {point.execution for point in one.loops} for one in loads)


def _loops_before_read(analysis: Analysis, kept: _Kept) -> list[ast.For | ast.While]:
    """The loops around the place that go on between two states of those that are read together."""
    loops = of_kind(kept.place.blocks, ast.For, ast.While)
    return loops[:1] if _is_read(analysis, kept.place, kept.target, innermost=True) else loops


# -- states ----------------------------------------------------------------------------------------


def _kept(analysis: Analysis, call: LibraryCall) -> _Kept | None:
    """The variable or attribute that holds the state beyond the iteration."""
    frame: Scene | None = call.site.scene
    node: ast.AST | None = call.site.node
    conditional, position = False, None
    while frame is not None and node is not None:
        place = _place(analysis, frame.path, node)
        if place is None or not _refers(place, _stays(call.receiver)):
            return None
        conditional = conditional or any_are(_until_loop(place), ast.If)
        if not isinstance(place.statement, ast.Return):
            conditional = conditional or _conditional_above(analysis, frame)
            if _ends(analysis, place, frame):
                return None
            target = _collected(analysis, place, position) or _target(analysis, place, conditional)
            return None if target is None else _Kept(place, target)
        position = _position(place)
        node, frame = frame.call, frame.caller
    return None


def _place(analysis: Analysis, path: str, node: ast.AST) -> _Place | None:
    """A recorded expression in the rule's tree of its file."""
    index = analysis.index(path)
    part = index.same(node) if isinstance(node, ast.expr) else None
    return None if part is None else _Place(path, tuple(index.trail(part)))


def _until_loop(place: _Place) -> list[ast.AST]:
    found: list[ast.AST] = []
    for part in place.blocks:
        if isinstance(part, ast.For | ast.While):
            break
        found.append(part)
    return found


def _conditional_above(analysis: Analysis, frame: Scene) -> bool:
    """Whether a condition stands between the loop and the call of a function, or of one that calls it."""
    while frame.caller is not None and frame.call is not None:
        place = _place(analysis, frame.caller.path, frame.call)
        if place is None:
            return False
        if any_are(_until_loop(place), ast.If):
            return True
        if any_are(place.blocks, ast.For, ast.While):
            return False
        frame = frame.caller
    return False


def _stays(module: Value) -> bool:
    """Whether ``.cpu()`` of the parameters gives these themselves."""
    parts = of_kind(parts_of(module), LibraryModule)
    return bool(parts) and all(part.device == CPU for part in parts)


def _is_same_memory(value: ast.expr, on_cpu: bool) -> bool:
    """``v``, ``v.detach()``, ``v.data`` and their like, for a tensor of the state."""
    while not isinstance(value, ast.Name):
        if is_attribute(value, "data"):
            value = value.value
            continue
        if not isinstance(value, ast.Call) or value.args or value.keywords or not isinstance(value.func, ast.Attribute):
            return False
        if value.func.attr != "detach" and not (value.func.attr == "cpu" and on_cpu):
            return False
        value = value.func.value
    return True


def _refers(place: _Place, on_cpu: bool) -> bool:
    """Whether the value of the statement holds the state's own tensors, and not copies of them."""
    inner = place.node
    for part in place.wrappers:
        match part:
            case ast.Call():
                shallow = inner in part.args and ast.unparse(part.func) in _SHALLOW
                added = inner in part.args and is_attribute(part.func, "append")
                if not shallow and not added and part.func is not inner:
                    return False
            case ast.Attribute():
                if part.attr not in ("items", "copy"):
                    return False
            case ast.ListComp():
                if part.elt is not inner:
                    return False
            case ast.DictComp():
                if not _is_same_memory(part.value, on_cpu):
                    return False
            case _ if not isinstance(part, ast.Dict | ast.Tuple | ast.List | ast.comprehension):
                return False
        inner = part
    return True


def _position(place: _Place) -> int | None:
    """Which part of the returned tuple the expression is in."""
    value = as_kind(place.statement.value, ast.Tuple) if isinstance(place.statement, ast.Return) else None
    parts = value.elts if value is not None else []
    inside = {place.node, *place.wrappers}
    return next((index for index, part in enumerate(parts) if part in inside), None)


def _collected(analysis: Analysis, place: _Place, position: int | None) -> ast.expr | None:
    """The list or dict in which each iteration leaves its state, directly or through a variable. `position`: the state is
    this part of a tuple."""
    statement = place.statement
    if not is_assignment(statement):
        return None
    target = statement.targets[0]
    if any_are(place.wrappers, ast.ListComp):
        within = set(ast.walk(place.blocks[-1]))
        names = (node for node in analysis.index(place.path).of_type(ast.Name) if node in within)
        read = isinstance(target, ast.Name) and any(is_name(n, target.id) and loads(n) for n in names)
        return target if read else None
    loop = first_of(place.blocks, ast.For, ast.While)
    match target:
        case ast.Subscript() if isinstance(loop, ast.For):
            varies = bool(names_in(target.slice) & stored_in(loop.target))
            return target if varies and _is_gathered(analysis, place, target) else None
        case ast.Tuple() if position is not None and position < len(target.elts):
            target = target.elts[position]
    if loop is None or not isinstance(target, ast.Name) or statement not in loop.body:
        return None
    for later in loop.body[loop.body.index(statement) + 1 :]:
        container = _added_to(later, target.id, loop)
        if container is not None:
            return container if _is_gathered(analysis, place, container) else None
        if target.id in stored_in(later):
            return None
    return None


def _added_to(statement: ast.stmt, name: str, loop: ast.For | ast.While) -> ast.expr | None:
    """The container in ``states.append(name)`` and ``states[client] = name``, also where the name is a part of a tuple or dict."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append") as function, args=[value])):
            container: ast.expr = function.value
        case ast.Assign(targets=[ast.Subscript() as place], value=value) if isinstance(loop, ast.For):
            if not names_in(place.slice) & stored_in(loop.target):
                return None
            container = place.value
        case _:
            return None
    parts = [value]
    if is_display(value):
        parts = value.elts
    elif isinstance(value, ast.Dict):
        parts = value.values
    return container if any(is_name(part, name) for part in parts) else None


def _target(analysis: Analysis, place: _Place, conditional: bool) -> ast.expr | None:
    statement = place.statement
    if isinstance(statement, ast.Expr):
        function = callee(statement.value)
        collected = function.value if is_attribute(function, "append") else None
        return collected if collected is not None and _is_gathered(analysis, place, collected) else None
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or not conditional:
        return None
    targets = targets_of(statement)
    target, value = targets[0], as_kind(statement.value, ast.Tuple)
    if isinstance(target, ast.Tuple) and value is not None and len(target.elts) == len(value.elts):
        pairs = [
            one for one, part in zip(target.elts, value.elts) if any(node is place.node for node in ast.walk(part))
        ]
        target = pairs[0]
    return target if len(targets) == 1 and _is_read(analysis, place, target) else None


def _ends(analysis: Analysis, place: _Place, frame: Scene) -> bool:
    """Whether the loop is left right after the state was taken, there or in the function that called this one."""
    around = as_kind(place.blocks[0], ast.If)
    block = around.body if around is not None else []
    if not block or not isinstance(block[-1], ast.Break | ast.Return):
        return False
    if any_are(place.blocks, ast.For, ast.While):
        return True
    caller = _place(analysis, frame.caller.path, frame.call) if frame.caller is not None and frame.call else None
    if caller is None:
        return False
    given = caller.statement.targets if isinstance(caller.statement, ast.Assign) else []
    names = {ast.unparse(target) for target in given}
    loop = first_of(caller.blocks, ast.For, ast.While)
    for part in nodes_in(loop, ast.If) if loop is not None else ():
        if isinstance(part.body[-1], ast.Break | ast.Return):
            asked = set(ast.walk(part.test))
            if caller.node in asked or any(ast.unparse(inner) in names for inner in asked):
                return True
    return False


def _is_gathered(analysis: Analysis, place: _Place, container: ast.expr) -> bool:
    """Whether what a loop has put into a container is read after it."""
    return any(_is_read(analysis, place, container, innermost) for innermost in (True, False))


def _owner(target: ast.expr) -> ast.expr:
    """``states`` of ``states[0]``."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def _is_read(analysis: Analysis, place: _Place, target: ast.expr, innermost: bool = False) -> bool:
    """Whether the target is read after the loops that it is set in, or the innermost of them; for an attribute, anywhere."""
    target = _owner(target)
    reads = [node for node in analysis.index(place.path).nodes if isinstance(getattr(node, "ctx", None), ast.Load)]
    if isinstance(target, ast.Attribute):
        inside = set(ast.walk(place.statement))
        paths = {source.path for source in analysis.workspace.read} - {place.path, ""}
        elsewhere = (node for path in paths for node in analysis.index(path).of_type(ast.Attribute))
        reads += [node for node in elsewhere if loads(node)]
        return any(is_attribute(n, target.attr) and n not in inside for n in reads)
    loops = of_kind(place.blocks, ast.For, ast.While)
    if not isinstance(target, ast.Name) or not loops:
        return False
    loop = loops[0 if innermost else -1]
    end = loop.end_lineno or 0
    last = min((after.end_lineno or 0 for after in _rebound(place, loop, target.id)), default=math.inf)
    within = set(ast.walk(place.blocks[-1]))
    return any(is_name(n, target.id) and n in within and end < n.lineno <= last for n in reads)


def _rebound(place: _Place, loop: ast.AST, name: str) -> Iterator[ast.stmt]:
    """The statements that give the name another value wherever the execution gets from the loop to what follows them."""
    inside = place.trail[: place.trail.index(loop) + 1]
    for outer, inner in pairwise(inside[inside.index(place.blocks[-1]) :]):
        for block in (getattr(outer, field, ()) for field in ("body", "orelse", "finalbody")):
            for statement in of_kind(block[block.index(inner) + 1 :] if inner in block else (), ast.Assign):
                if name in {ast.unparse(one) for one in statement.targets}:
                    yield statement


# -- models ----------------------------------------------------------------------------------------


def _whole_models(analysis: Analysis) -> Iterator[Finding]:
    """``best_model = model`` in a loop that trains the model."""
    reported: set[ast.AST] = set()
    looked_into: set[tuple[ast.AST, object]] = set()
    for step in analysis.events("step"):
        frame: Scene | None = step.site.scene
        node: ast.AST | None = step.site.node
        while frame is not None and node is not None and step.loops:
            place = _place(analysis, frame.path, node)
            loops = of_kind(place.blocks, ast.For, ast.While) if place else []
            if loops and (loops[-1], step.subject) not in looked_into:
                looked_into.add((loops[-1], step.subject))
                for given in _bare(loops[-1]):
                    name = ast.unparse(given)
                    if given in reported or all(name_in(frame, module) != name for module in modules_of(step.subject)):
                        continue
                    value = _place(analysis, frame.path, given)
                    if value is None or _made_anew(value, name):
                        continue
                    conditional = any_are(_until_loop(value), ast.If)
                    target = _target(analysis, value, conditional)
                    if target is not None:
                        reported.add(given)
                        source = analysis.source_of(frame.path)
                        text = message("state.reference", name=f"`{source.segment(target)}`")
                        yield Finding(source.span(given), text, (), (_copied(analysis, frame.path, given),))
            node, frame = frame.call, frame.caller


def _made_anew(place: _Place, name: str) -> bool:
    """Whether each iteration has a model of its own under a name."""
    loops = of_kind(place.blocks, ast.For, ast.While)
    return any(
        name in {ast.unparse(target) for target in targets_of(statement)} and name not in names_in(statement.value)
        for statement in (nodes_in(loops[0], ast.Assign) if loops else ())
    )


def _bare(loop: ast.AST) -> Iterator[ast.expr]:
    """Things that assignments in a loop only give another name, alone or in a tuple."""
    for node in nodes_in(loop, ast.Assign):
        parts = parts_of_tuple(node.value)
        yield from of_kind(parts, ast.Name, ast.Attribute)


def _copied(analysis: Analysis, path: str, node: ast.AST) -> Candidate:
    source, tree = analysis.source_of(path), analysis.tree(path)
    place = _place(analysis, path, node)
    around = as_kind(place.wrappers[0], ast.Call) if place is not None and place.wrappers else None
    if around is not None and ast.unparse(around.func) == "copy.copy":
        return Candidate(message("fix.copy"), (edits.replace(source, around.func, "copy.deepcopy"),))
    return Candidate(message("fix.copy"), edits.deep_copy(source, tree, node))


RULE = Rule(FAULTS[CODE], find)
