"""param-groups-index: the groups of an optimizer, used as if they were one dict.

What it finds
    `optimizer.param_groups["lr"]`, read or written; `optimizer.lr = 0.01`, which sets an attribute that nothing reads.
Why it hurts
    An optimizer has a list of groups, each with its own learning rate: TypeError "list indices must be integers or
    slices, not str".
Example
    optimizer.param_groups["lr"] *= 0.5
Use instead
    for group in optimizer.param_groups:
        group["lr"] *= 0.5
Fix safety
    Safe where a statement sets the value: it is set for all groups. Reading takes it from the first one.
References
    torch.optim.Optimizer
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, appended
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute

CODE = "TS814"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.GROUPS):
        yield Finding(
            misuse.site.span, message("groups.index"), (), _repairs(analysis, misuse.site.span.path, misuse.site.node)
        )
    yield from _set_on_optimizer(analysis)


def _set_on_optimizer(analysis: Analysis) -> Iterator[Finding]:
    """``optimizer.lr = 0.01``"""
    for misuse in analysis.misuses(misuses.OPTION_SET):
        node, source = as_kind(misuse.site.node, ast.Attribute), misuse.site.source
        if node is None:
            continue
        text = message("groups.option", text=source.segment(node), name=node.attr)
        statement = as_kind(edits.enclosing_statement(analysis.tree(source.path), node), ast.Assign, ast.AugAssign)
        fixes: list[Candidate] = []
        if statement is not None:
            owner, indent = source.segment(node.value), edits.indentation(source, statement.lineno)
            inside = source.segment(statement).replace(source.segment(node), f'group["{node.attr}"]')
            new = f"for group in {owner}.param_groups:{edits.line_ending(source)}{indent}    {inside}"
            fixes.append(Candidate(message("fix.each_group"), (edits.replace(source, statement, new),)))
        yield Finding(misuse.site.span, text, (), fixes, severity="warning")


def _repairs(analysis: Analysis, path: str, node: ast.AST) -> Iterator[Candidate]:
    source = analysis.source_of(path)
    parts = [part for part in ast.walk(node) if is_attribute(part, "param_groups")]
    if not parts:
        return
    owner = parts[0]
    same = analysis.index(path).same(owner)
    trail = analysis.trail(path, same) if same is not None else []
    statement = first_of(reversed(trail), ast.stmt)
    if isinstance(statement, ast.Assign | ast.AugAssign):
        target = as_kind(statement.targets[0] if isinstance(statement, ast.Assign) else statement.target, ast.Subscript)
        if target is not None and target.value is same:
            text = source.segment(statement).replace(source.segment(owner), "group")
            indent = edits.indentation(source, statement.lineno)
            new = f"for group in {source.segment(owner)}:{edits.line_ending(source)}{indent}    {text}"
            yield Candidate(message("fix.each_group"), (edits.replace(source, statement, new),))
    yield appended(source, owner, "[0]")


RULE = Rule(FAULTS[CODE], find)
