"""returns-out-of-order: discounted returns that are in another order than the steps they belong to.

What it finds
    A loop over rewards from first to last that keeps `R = r + gamma * R` and puts each R in front of those before it; and one from
    last to first that appends each R, where nothing turns them round and the probabilities of actions are weighted with them.
Why it hurts
    The return of a step is the sum of the rewards behind it, so the sum has to run from the last step to the first, and its
    values have to come into the order of the steps again. Here each action is judged by the return of another. Nothing is raised.
Example
    for r in rewards:
        R = r + gamma * R
        returns.insert(0, R)
Use instead
    for r in reversed(rewards):
        R = r + gamma * R
        returns.insert(0, R)
Fix safety
    Safe: the sum then runs from the last reward to the first, and the returns are in the order of the steps.
References
    "Reinforcement Learning: An Introduction" (Sutton and Barto), section 3.3
"""

from __future__ import annotations

import ast
import re
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
    last_word,
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

    yield from _left_turned(analysis)


def _left_turned(analysis: Analysis) -> Iterator[Finding]:
    """Returns that are appended from the last step to the first, and stay so."""
    source = analysis.source
    words = {last_word(node) for node in nodes_in(analysis.tree(source.path), ast.Name, ast.Attribute)}
    if not any(map(_WEIGHTED.search, words)):
        return
    for loop in analysis.index(source.path).of_type(ast.For):
        total = next(
            (found for part in loop.body if (found := _total(part, plain_name(loop.target))) is not None), None
        )
        calls = [part.value for part in of_kind(loop.body, ast.Expr)]
        put = next((call for call in calls if is_method_call(call, "append") and is_name(call.args[0], total)), None)
        if total is None or put is None or not isinstance(put, ast.Call) or not _runs_back(loop.iter):
            continue
        own = {id(part) for part in ast.walk(loop.iter)}
        trees = (analysis.tree(path) for path in (source.path, *(one.path for one in analysis.workspace.read)))
        if any(id(part) not in own for tree in trees for part in _turning(tree)):
            continue
        listed = source.segment(put.func).rpartition(".")[0]
        place = source.span(loop.iter).related(message("returns.back"))
        text = message("returns.reversed", returns=listed)
        new = f"{listed}.insert(0, {total})"
        yield Finding(source.span(put), text, (place,), (replacement(source, put, new),))


_WEIGHTED = re.compile(r"log_?p(i|s)?\b|log_?prob", re.IGNORECASE)
"""The names of what returns weight: ``log_prob``, ``logps``, ``log_pi``."""


def _runs_back(node: ast.expr) -> bool:
    """``reversed(rewards)``, ``rewards[::-1]``"""
    if isinstance(node, ast.Call):
        return called(node) == "reversed" and len(node.args) == 1
    return isinstance(node, ast.Subscript) and is_reference(node.value) and _steps_back(node.slice)


def _steps_back(node: ast.AST) -> bool:
    return isinstance(node, ast.Slice) and node.step is not None and ast.unparse(node.step) == "-1"


_TURNING = frozenset(
    {"reversed", "reverse", "flip", "flipud", "fliplr", "appendleft", "insert", "rot90", "argsort", "sort"}
)


def _turning(tree: ast.Module) -> Iterator[ast.AST]:
    """The calls and slices that may put things into the opposite order."""
    for node in nodes_in(tree, ast.Call, ast.Slice):
        down = isinstance(node, ast.Call) and called(node) == "range" and len(node.args) == 3
        if down or _steps_back(node) or called(node) in _TURNING:
            yield node


def _total(statement: ast.stmt, reward: str | None) -> str | None:
    """The name of a sum that each step discounts: ``R = r + gamma * R``."""
    value = statement.value if is_binding(statement) else None
    if not is_binding(statement) or not is_binary(value, ast.Add):
        return None
    name = statement.targets[0].id
    for one, other in ((value.left, value.right), (value.right, value.left)):
        if reward in names_in(one) and is_binary(other, ast.Mult) and name in names_in(other):
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
