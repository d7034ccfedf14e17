"""returns-out-of-order: discounted returns that are summed from the first reward on, and put in the order of the last one.

What it finds
    A loop over rewards from first to last that keeps `R = r + gamma * R` and puts each R in front of those before it.
Why it hurts
    The return of a step is the sum of the rewards behind it, so the sum has to run from the last step to the first. Here it is
    that of the rewards before, and in the reverse of the order of the steps: each action is judged by another's. Nothing is raised.
Example
    for r in rewards:
        R = r + gamma * R
        returns.insert(0, R)
Use instead
    for r in reversed(rewards):
        R = r + gamma * R
        returns.insert(0, R)
Fix safety
    Safe: the sum then runs from the last reward to the first.
References
    "Reinforcement Learning: An Introduction" (Sutton and Barto), section 3.3
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import (
    called,
    is_binary,
    is_binding,
    is_literal,
    is_method_call,
    is_name,
    is_reference,
    names_in,
    nodes_in,
    plain_name,
)

CODE = "TS563"


def find(analysis: Analysis) -> Iterator[Finding]:
    tree = analysis.tree(analysis.source.path)
    for loop in analysis.index(analysis.source.path).of_type(ast.For):
        reward = plain_name(loop.target)
        total = next((found for part in loop.body if (found := _total(part, reward)) is not None), None)
        put = next((call for part in loop.body if (call := _put_in_front(part, total)) is not None), None)
        if total is not None and put is not None and is_reference(loop.iter) and not _turned(tree, loop.iter):
            source = analysis.source
            new = f"reversed({source.segment(loop.iter)})"
            place = source.span(put).related(message("returns.front"))
            text = message("returns.forward", rewards=source.segment(loop.iter), total=total)
            yield Finding(source.span(loop.iter), text, (place,), (replacement(source, loop.iter, new),))


def _total(statement: ast.stmt, reward: str | None) -> str | None:
    """The name of a sum that each step discounts: ``R = r + gamma * R``."""
    value = statement.value if is_binding(statement) else None
    if not is_binding(statement) or not is_binary(value, ast.Add):
        return None
    name = statement.targets[0].id
    for one, other in ((value.left, value.right), (value.right, value.left)):
        if is_name(one, reward) and is_binary(other, ast.Mult) and name in names_in(other):
            return name
    return None


def _put_in_front(statement: ast.stmt, total: str | None) -> ast.Call | None:
    """``returns.insert(0, R)``"""
    call = statement.value if isinstance(statement, ast.Expr) else None
    front = is_method_call(call, "insert", "appendleft") and call.args and is_name(call.args[-1], total)
    if not front or not isinstance(call, ast.Call):
        return None
    return call if called(call) == "appendleft" or is_literal(call.args[0], 0) else None


def _turned(tree: ast.Module, rewards: ast.expr) -> bool:
    """Whether the rewards may be in the reverse order already."""
    text = ast.unparse(rewards)
    if any(ast.unparse(call.func) == f"{text}.reverse" for call in nodes_in(tree, ast.Call)):
        return True
    steps = (part for part in nodes_in(tree, ast.Slice) if part.step is not None)
    front = [call for call in nodes_in(tree, ast.Call) if called(call) in ("reversed", "flip", "flipud")]
    inserted = [call for call in nodes_in(tree, ast.Call) if ast.unparse(call.func) == f"{text}.insert"]
    return bool(front or inserted or of_kind(steps, ast.Slice))


RULE = Rule(FAULTS[CODE], find)
