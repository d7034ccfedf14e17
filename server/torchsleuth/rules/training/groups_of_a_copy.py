"""groups-of-a-copy: an option that is set in what optimizer.state_dict() returns.

What it finds
    An entry of `optimizer.state_dict()["param_groups"]` that is assigned, where the dict is not loaded, returned or kept afterwards.
Why it hurts
    The groups in a state_dict are copies. The optimizer goes on with the learning rate that it has, and nothing fails.
Example
    for group in optimizer.state_dict()["param_groups"]:
        group["lr"] = rate
Use instead
    for group in optimizer.param_groups:
        group["lr"] = rate
Fix safety
    Safe: `param_groups` are what the optimizer reads in each step.
References
    torch.optim.Optimizer.state_dict, torch.optim.Optimizer.param_groups
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import is_optimizer
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import is_literal, is_name, loads, nodes_in
from torchsleuth.values import LibraryObject

CODE = "TS550"
_GROUPS = "param_groups"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    for path, calls in analysis.calls.items():
        if not path.endswith(".state_dict"):
            continue
        for call in calls:
            index = analysis.index(call.site.span.path)
            node = index.same(call.site.node) if isinstance(call.site.node, ast.Call) else None
            owner = as_kind(call.receiver, LibraryObject)
            if node is None or owner is None or not is_optimizer(owner):
                continue
            if not isinstance(node.func, ast.Attribute):
                continue
            source = call.site.source
            trail = index.trail(node)
            function = next((one for one in reversed(trail) if isinstance(one, ast.FunctionDef | ast.Module)), trail[0])
            for groups, change in _changes(node, trail, function):
                span = source.span(change)
                if span in reported:
                    continue
                reported.add(span)
                optimizer = source.segment(node.func.value)
                new = f"{optimizer}.{_GROUPS}"
                fix = replacement(source, groups, new)
                yield Finding(span, message("groups.copied", optimizer=f"`{optimizer}`"), (), (fix,))


def _changes(state: ast.Call, trail: list[ast.AST], function: ast.AST) -> Iterator[tuple[ast.expr, ast.AST]]:
    """The groups of a state_dict as they are written, with the assignments to what is in them."""
    holder = as_kind(trail[-2], ast.Assign) if len(trail) > 1 else None
    mentions: list[ast.expr] = [state]
    if holder is not None and isinstance(holder.targets[0], ast.Name):
        name = holder.targets[0].id
        mentions = [one for one in nodes_in(function, ast.Name) if is_name(one, name) and loads(one)]
    written = [
        node for node in nodes_in(function, ast.Subscript) if node.value in mentions and is_literal(node.slice, _GROUPS)
    ]
    if len(written) < len(mentions):
        return  # it is used as a whole, too: loaded, saved or returned
    for groups in written:
        for node in nodes_in(function, ast.Assign):
            for target in of_kind(node.targets, ast.Subscript):
                if _is_in(target.value, groups, function):
                    yield groups, node


def _is_in(node: ast.expr, groups: ast.expr, function: ast.AST) -> bool:
    """Whether an expression is one of these groups: an element, or the variable of a loop over them."""
    if isinstance(node, ast.Subscript):
        return node.value is groups
    loops = (loop for loop in nodes_in(function, ast.For) if loop.iter is groups)
    return isinstance(node, ast.Name) and any(is_name(loop.target, node.id) for loop in loops)


RULE = Rule(FAULTS[CODE], find)
