"""state-dict-argument: weights that are given to state_dict(), which loads nothing.

What it finds
    `model.state_dict(weights)` as a statement, where `weights` are those of a file, or of a model.
Why it hurts
    `state_dict()` hands weights out. What it is given is a dict that it writes the model's own weights into: the model stays
    as it is, and the weights that were to be loaded are overwritten. Nothing fails.
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
from torchsleuth.syntax.forms import is_attribute, is_method_call, nodes_in
from torchsleuth.values import DictValue, LibraryObject, is_module, is_unknown

CODE = "TS542"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    for call in analysis.calls.get(STATE, ()):
        node = call.site.node
        statement = statement_of(analysis, call.site)
        alone = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        if not alone or call.site.span in reported or not is_module(call.receiver):
            continue
        if is_method_call(node) and (_holds_weights(call, node) or _is_kept(analysis, call, node)):
            reported.add(call.site.span)
            source = analysis.source_of(call.site.span.path)
            name = source.segment(node.func.value)
            end = source.end_of(node.func)
            start = source.position(source.offset(end) - len(node.func.attr))
            fix = Edit(source.path, start, end, "load_state_dict")
            title = message("fix.replace", old=f"{name}.state_dict", new=f"{name}.load_state_dict")
            yield Finding(call.site.span, message("state.given", name=f"`{name}`"), (), (Candidate(title, (fix,)),))


def _holds_weights(call: LibraryCall, node: ast.Call) -> bool:
    """Whether the one argument of a call is a dict of weights, and not an empty one that is to be filled."""
    if len(call.args) != 1 or len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        return False
    given, written = call.args[0], node.args[0]
    if isinstance(given, DictValue):
        return given.from_file or bool(given.entries)
    if isinstance(given, LibraryObject):
        return given.path == STATE
    loaded = isinstance(written, ast.Call) and ast.unparse(written.func).rpartition(".")[2].startswith("load")
    return is_unknown(given) and loaded


def _is_kept(analysis: Analysis, call: LibraryCall, node: ast.Call) -> bool:
    """Whether the one argument is a variable that the file gives the state of a model, or what it has loaded."""
    if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.Name | ast.Attribute):
        return False
    wanted = ast.unparse(node.args[0])
    for one in analysis.index(call.site.span.path).of_type(ast.Assign):
        if wanted in map(ast.unparse, one.targets):
            calls = [part.func for part in nodes_in(one.value, ast.Call)]
            if any(is_attribute(part, "state_dict", "load") for part in calls):
                return True
    return False


RULE = Rule(FAULTS[CODE], find)
