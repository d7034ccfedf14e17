"""counted-twice: a mean over states that begins with the first one, and adds it again.

What it finds
    `average = states[0]`, or a copy of it, and a loop that adds all of `states` to it, the first one among them.
Why it hurts
    The first one weighs twice as much as the others, and the sum is that of one more than it is divided by: averaged weights
    are too large by one of their parts. Nothing is raised.
Example
    average = copy.deepcopy(states[0])
    for key in average:
        for state in states:
            average[key] += state[key]
        average[key] = average[key] / len(states)
Use instead
    average = copy.deepcopy(states[0])
    for key in average:
        for state in states[1:]:
            average[key] += state[key]
        average[key] = average[key] / len(states)
Fix safety
    Safe: the sum has each of them once.
References
    "Communication-Efficient Learning of Deep Networks from Decentralized Data" (McMahan et al.), algorithm 1
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
    is_binding,
    is_function_call,
    is_literal,
    is_name,
    is_reference,
    nodes_in,
    plain_name,
    stored_in,
    stores,
)

CODE = "TS565"
_COPIES = frozenset({"copy", "deepcopy", "clone"})


def find(analysis: Analysis) -> Iterator[Finding]:
    for scope in analysis.scopes:
        for place, begun in enumerate(scope.body):
            states = _first_of(begun.value) if is_binding(begun) else None
            if states is None or not is_binding(begun):
                continue
            name = begun.targets[0].id
            for loop in of_kind(scope.body[place + 1 :], ast.For):
                added = _added(loop, name, states)
                if added is not None and _sums_alone(loop, name):
                    yield _finding(analysis, begun, states, *added)


def _first_of(value: ast.expr) -> ast.expr | None:
    """``states`` of ``states[0]`` and of a copy of that."""
    if isinstance(value, ast.Call) and called(value) in _COPIES:
        given = value.args[:1] or ([value.func.value] if isinstance(value.func, ast.Attribute) else [])
        return _first_of(given[0]) if given else None
    part = isinstance(value, ast.Subscript) and is_literal(value.slice, 0) and is_reference(value.value)
    return value.value if part and isinstance(value, ast.Subscript) else None


def _added(loop: ast.For, name: str, states: ast.expr) -> tuple[ast.For, ast.AugAssign] | None:
    """The loop over all of the states that adds a part of each to that of the sum."""
    for inner in nodes_in(loop, ast.For):
        state, whole = plain_name(inner.target), ast.unparse(states)
        each = ast.unparse(inner.iter) == whole
        counted = is_function_call(inner.iter, "range") and [*map(ast.unparse, inner.iter.args)] == [f"len({whole})"]
        if state is None or not (each or counted):
            continue
        one = state if each else f"{whole}[{state}]"
        for added in of_kind(inner.body, ast.AugAssign):
            target, value = added.target, added.value
            if isinstance(target, ast.Subscript) and isinstance(value, ast.Subscript) and isinstance(added.op, ast.Add):
                same = ast.unparse(target.slice) == ast.unparse(value.slice)
                if same and is_name(target.value, name) and ast.unparse(value.value) == one:
                    return inner, added
    return None


def _sums_alone(loop: ast.For, name: str) -> bool:
    """Whether the parts of the sum get no other value than the sum by its number: not zero, for one."""
    if name in stored_in(loop):
        return False
    for statement in nodes_in(loop, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Subscript) and is_name(target.value, name) and stores(target):
                if not any(nodes_in(statement.value, ast.Div)) and "div" not in called(statement.value):
                    return False
    calls = (call.func for call in nodes_in(loop, ast.Call) if isinstance(call.func, ast.Attribute))
    return not any(call.attr.endswith("zero_") or call.attr in ("fill_", "sub_") for call in calls)


def _finding(analysis: Analysis, begun: ast.stmt, states: ast.expr, loop: ast.For, added: ast.AugAssign) -> Finding:
    source, whole = analysis.source, analysis.source.segment(states)
    new = f"range(1, len({whole}))" if is_function_call(loop.iter, "range") else f"{whole}[1:]"
    place = source.span(begun).related(message("counted.begun"))
    text = message("counted.twice", first=f"{whole}[0]", line=begun.lineno)
    return Finding(source.span(added), text, (place,), (replacement(source, loop.iter, new),))


RULE = Rule(FAULTS[CODE], find)
