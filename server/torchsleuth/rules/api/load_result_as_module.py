"""load-result-as-module: what load_state_dict() returns, taken for the module.

What it finds
    A call or an attribute of what load_state_dict() gives.
Why it hurts
    It is a pair of lists, the missing and the unexpected keys: AttributeError "'_IncompatibleKeys' object has no attribute
    'eval'", or TypeError "… is not callable".
Example
    model = Net().load_state_dict(torch.load("net.pt"))
    model.eval()
Use instead
    model = Net()
    model.load_state_dict(torch.load("net.pt"))
    model.eval()
Fix safety
    Safe: the weights are loaded in place.
References
    torch.nn.Module.load_state_dict
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_assignment, is_method_call

CODE = "TS812"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[object] = set()
    for misuse in analysis.misuses(misuses.RESULT):
        loads = analysis.calls.get("torch.nn.Module.load_state_dict", ())
        load = next((call for call in loads if call.result is misuse.value), None)
        if load is None or load.site.span in seen:
            continue
        seen.add(load.site.span)
        used = misuse.site.span.related(message("state.result.used"))
        yield Finding(load.site.span, message("state.result"), (used,), tuple(_split(analysis, load)))


def _split(analysis: Analysis, load: LibraryCall) -> Iterator[Candidate]:
    """The load as a statement of its own, after the module has its name."""
    path, node = load.site.span.path, load.site.node
    source, statement = analysis.source_of(path), statement_of(analysis, load.site)
    if not is_method_call(node) or statement is None:
        return
    module = source.segment(node.func.value)
    arguments = source.text[source.offset(source.end_of(node.func)) : source.offset(source.end_of(node))]
    whole = getattr(statement, "value", None)
    if whole is None or source.span(whole) != load.site.span or not is_simple(statement, analysis, path):
        return
    changes: tuple[Edit, ...] = ()
    target = module
    if isinstance(statement, ast.Return) and isinstance(node.func.value, ast.Name):
        changes = (edits.insert_line_after(source, statement, f"return {module}"),)
    elif is_assignment(statement):
        target = source.segment(statement.targets[0])
        if target != module:
            changes = (edits.insert_line_before(source, statement, f"{target} = {module}"),)
    else:
        return
    load_it = edits.replace(source, statement, f"{target}.load_state_dict{arguments}")
    yield Candidate(message("fix.statement", text=f"{target}.load_state_dict(…)"), (*changes, load_it))


RULE = Rule(FAULTS[CODE], find)
