"""state-dict-argument: weights that are given to state_dict(), which loads nothing.

What it finds
    `model.state_dict(weights)` as a statement, where `weights` are those of a file, or of a model; and
    `model.state_dict().update(weights)` or `model.state_dict()[name] = weight`, which change a dict that nobody has; and the same
    in two steps, where the dict gets new entries and is never loaded.
Why it hurts
    `state_dict()` hands weights out, in a dict that is made for each call. What it is given is a dict that it writes the
    model's own weights into: the model stays as it is, and the weights that were to be loaded are overwritten, or forgotten
    with the dict. Nothing fails.
Example
    model.state_dict(torch.load("model.pt"))
Use instead
    model.load_state_dict(torch.load("model.pt"))
Fix safety
    Safe: what the statement does now is of no use to anybody.
References
    torch.nn.Module.load_state_dict
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import STATE
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_method_call, is_name, is_reference, nodes_in, plain_name, stores
from torchsleuth.values import DictValue, LibraryObject, is_module, is_unknown

CODE = "TS542"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    for call in analysis.calls.get(STATE, ()):
        node = call.site.node
        if is_method_call(node) and is_module(call.receiver) and call.site.span not in reported:
            changed = _changed(analysis, call)
            if changed is not None:
                reported.add(call.site.span)
                yield _forgotten(call, call.site.source.segment(node.func.value), changed)
                continue
            if call.site.span not in reported and (kept := list(_written_in_vain(analysis, call, node))):
                reported.add(call.site.span)
                yield from kept
        statement = as_kind(statement_of(analysis, call.site), ast.Expr)
        alone = statement is not None and isinstance(statement.value, ast.Call)
        if not alone or call.site.span in reported or not is_module(call.receiver):
            continue
        if is_method_call(node) and (_holds_weights(call, node) or _is_kept(analysis, call, node)):
            reported.add(call.site.span)
            source = call.site.source
            name = source.segment(node.func.value)
            end = source.end_of(node.func)
            start = source.position(source.offset(end) - len(node.func.attr))
            fix = Edit(source.path, start, end, "load_state_dict")
            title = message("fix.replace", old=f"{name}.state_dict", new=f"{name}.load_state_dict")
            yield Finding(call.site.span, message("state.given", name=f"`{name}`"), (), (Candidate(title, (fix,)),))


def _changed(analysis: Analysis, call: LibraryCall) -> ast.expr | None:
    """The expression that changes the dict which a call has made, and which is forgotten then."""
    index = analysis.index(call.site.span.path)
    made = index.same(call.site.node)
    around = index.parents.get(made) if made is not None else None
    if isinstance(around, ast.Subscript) and stores(around):
        return around
    called = (
        as_kind(index.parents.get(around), ast.Call) if around is not None and is_attribute(around, "update") else None
    )
    alone = called is not None and called.func is around and isinstance(index.parents.get(called), ast.Expr)
    return called if alone and called is not None else None


def _written_in_vain(analysis: Analysis, call: LibraryCall, node: ast.Call) -> Iterator[Finding]:
    """``state = model.state_dict()`` and then ``state[name] = …``, where nothing else is ever done with the dict."""
    statement, source = as_kind(statement_of(analysis, call.site), ast.Assign), call.site.source
    bound = statement is not None and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)
    trail = analysis.trail(source.path, statement) if statement is not None and bound else []
    function = next((part for part in reversed(trail) if isinstance(part, ast.FunctionDef)), None)
    if function is None or statement is None or statement.value is not analysis.index(source.path).same(node):
        return
    name = plain_name(statement.targets[0]) or ""
    writes = [one for one in nodes_in(function, ast.Assign) if one is not statement and _writes_entry(one, name)]
    inside = {id(part) for one in writes for part in nodes_in(one, ast.Name)}
    others = [one for one in nodes_in(function, ast.Name) if one.id == name and id(one) not in inside]
    if not writes or len(others) > 1 or any(_changes_entry(one, name) for write in writes for one in ast.walk(write)):
        return
    owner = source.segment(node.func.value) if is_method_call(node) else ""
    line, first = f"{owner}.load_state_dict({name})", writes[0]
    around = analysis.trail(source.path, first)
    whole = next((part for part in around[around.index(function) + 1 :] if isinstance(part, ast.stmt)), first)
    edit = edits.insert_line_after(source, whole, line)
    place = (source.span(statement).related(message("state.taken", name=f"`{owner}`")),)
    text = message("state.in_vain", name=f"`{owner}`", dict=f"`{name}`")
    yield Finding(source.span(first), text, place, (Candidate(message("fix.insert", text=line), (edit,)),))


def _writes_entry(statement: ast.Assign, name: str) -> bool:
    """``state[key] = …``"""
    target = statement.targets[0]
    return len(statement.targets) == 1 and isinstance(target, ast.Subscript) and is_name(target.value, name)


def _changes_entry(node: ast.AST, name: str) -> bool:
    """Whether the weights themselves are changed, or handed on: ``state[key].mul_(…)``, ``f(state)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Subscript(value=inner), attr=attr)):
            return is_name(inner, name) and attr.endswith("_")
        case ast.Call():
            return any(is_name(one, name) for one in (*node.args, *(word.value for word in node.keywords)))
    return False


def _forgotten(call: LibraryCall, name: str, changed: ast.expr) -> Finding:
    source = call.site.source
    candidates: list[Candidate] = []
    if isinstance(changed, ast.Call) and len(changed.args) == 1 and not changed.keywords:
        new = f"{name}.load_state_dict({source.segment(changed.args[0])})"
        title = message("fix.replace", old=f"{name}.state_dict().update", new=f"{name}.load_state_dict")
        candidates.append(Candidate(title, (edits.replace(source, changed, new),)))
    return Finding(source.span(changed), message("state.forgotten", name=f"`{name}`"), (), tuple(candidates))


def _holds_weights(call: LibraryCall, node: ast.Call) -> bool:
    """Whether the one argument of a call is a dict of weights, and not an empty one that is to be filled."""
    if len(call.args) != 1 or len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        return False
    given, written = call.args[0], as_kind(node.args[0], ast.Call)
    match given:
        case DictValue():
            return given.from_file or bool(given.entries)
        case LibraryObject():
            return given.path == STATE
    loaded = written is not None and ast.unparse(written.func).rpartition(".")[2].startswith("load")
    return is_unknown(given) and loaded


def _is_kept(analysis: Analysis, call: LibraryCall, node: ast.Call) -> bool:
    """Whether the one argument is a variable that the file gives the state of a model, or what it has loaded."""
    if len(node.args) != 1 or node.keywords or not is_reference(node.args[0]):
        return False
    wanted = ast.unparse(node.args[0])
    for one in analysis.index(call.site.span.path).of_type(ast.Assign):
        if wanted in map(ast.unparse, one.targets):
            calls = [part.func for part in nodes_in(one.value, ast.Call)]
            if any(is_attribute(part, "state_dict", "load") for part in calls):
                return True
    return False


RULE = Rule(FAULTS[CODE], find)
