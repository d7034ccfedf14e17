"""state-dict-argument: weights that are given to state_dict(), which loads nothing.

What it finds
    `model.state_dict(weights)` as a statement, where `weights` are those of a file, or of a model; and
    `model.state_dict().update(weights)` or `model.state_dict()[name] = weight`, which change a dict that nobody has.
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
from torchsleuth.syntax.forms import is_attribute, is_method_call, is_reference, nodes_in, stores
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
