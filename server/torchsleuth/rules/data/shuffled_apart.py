"""shuffled-apart: samples and their labels are shuffled, each in an order of its own.

What it finds
    Two `shuffle()` calls, of inputs and of their labels, two permutations that are drawn for one each, or `sample(frac=1)` of two tables, where nothing sets
    the random numbers back in between, and both then go into one call, or stand beside each other in one tuple.
Why it hurts
    Inputs meet the labels of others: there is nothing to learn, and the loss stays at chance. Nothing is raised.
Example
    np.random.shuffle(images)
    np.random.shuffle(labels)
Use instead
    order = np.random.permutation(len(images))
    images, labels = images[order], labels[order]
Fix safety
    Safe: one order for both.
References
    numpy.random.Generator.permutation, torch.randperm
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.labels import is_of_labels
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    is_literal,
    is_method_call,
    is_reference,
    keyword_of,
    names_in,
    nodes_in,
    parts_of_tuple,
)
from torchsleuth.syntax.names import Names

CODE = "TS628"
_SHUFFLES = frozenset({"random.shuffle", "numpy.random.shuffle"})
_ORDERS = frozenset({"torch.randperm", "numpy.random.permutation"})
_OF_GENERATOR = "permutation"
"""The method of NumPy's generators."""
_SAMPLED = "sample"
"""Calls that put the rows of a table in another order: ``table.sample(frac=1)``."""
_REPEATS = ("seed", "state")
"""Parts of the names of functions after which random numbers are drawn again as they were."""


class _Shuffled(NamedTuple):
    """A statement that puts something in a new order. `call`: what draws that order."""

    statement: ast.stmt
    call: ast.Call
    path: str
    value: ast.expr


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    if not any(word in source.text for word in ("shuffle(", "perm", ".sample(")):
        return
    tree = analysis.tree(source.path)
    drawn = {id(use.call): use.path for use in Names(tree).uses if use.path in _SHUFFLES | _ORDERS}
    for scope in analysis.scopes:
        found = [one for statement in scope.body if (one := _shuffled(statement, drawn)) is not None]
        for first, second in pairwise(found):
            if _belong_together(scope, first, second) and not _drawn_again(scope, first, second):
                yield _finding(analysis, first, second)
        for statement in nodes_in(scope, ast.Return, ast.Assign):
            yield from _side_by_side(analysis, statement, drawn)


def _side_by_side(analysis: Analysis, statement: ast.Return | ast.Assign, drawn: dict[int, str]) -> Iterator[Finding]:
    """``return x[rng.permutation(len(x))], y[rng.permutation(len(y))]``"""
    found = []
    for part in parts_of_tuple(statement.value) if statement.value is not None else ():
        order = part.slice if isinstance(part, ast.Subscript) and is_reference(part.value) else None
        if isinstance(part, ast.Subscript) and isinstance(order, ast.Call) and _draws_order(order, drawn):
            found.append(_Shuffled(statement, order, drawn.get(id(order), _OF_GENERATOR), part.value))
    for first, second in pairwise(found):
        one_source = ast.unparse(first.call.func) == ast.unparse(second.call.func)
        if _are_samples_and_labels(first, second) and one_source and not _seeded(first, second):
            yield _finding(analysis, first, second)


def _draws_order(call: ast.Call, drawn: dict[int, str]) -> bool:
    return drawn.get(id(call)) in _ORDERS or is_method_call(call, _OF_GENERATOR)


def _seeded(*shuffled: _Shuffled) -> bool:
    """Whether what draws an order is made in the same expression, or handed over: ``RandomState(0).permutation(n)``."""
    return any(
        one.call.keywords or any(isinstance(part, ast.Call) for part in ast.walk(one.call.func)) for one in shuffled
    )


def _shuffled(statement: ast.stmt, drawn: dict[int, str]) -> _Shuffled | None:
    """``random.shuffle(x)``, ``x = x[torch.randperm(len(x))]``"""
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if isinstance(statement, ast.Expr) and isinstance(value, ast.Call) and drawn.get(id(value)) in _SHUFFLES:
        plain = len(value.args) == 1 and is_reference(value.args[0])
        return _Shuffled(statement, value, drawn[id(value)], value.args[0]) if plain else None
    if isinstance(statement, ast.Assign) and isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Call):
        same = [ast.unparse(target) for target in statement.targets] == [ast.unparse(value.value)]
        if same and drawn.get(id(value.slice)) in _ORDERS:
            return _Shuffled(statement, value.slice, drawn[id(value.slice)], value.value)
    renumbered = False
    while is_method_call(value) and not is_method_call(value, "sample"):
        renumbered = renumbered or value.func.attr in (
            "reset_index",
            "to_numpy",
        )  # Otherwise pandas finds rows by their labels.
        value = value.func.value
    frac = argument_of(value, 1, "frac") if is_method_call(value, "sample") and renumbered else None
    if isinstance(statement, ast.Assign) and is_literal(frac, 1) and is_method_call(value):
        same = [ast.unparse(target) for target in statement.targets] == [ast.unparse(value.func.value)]
        return _Shuffled(statement, value, _SAMPLED, value.func.value) if same else None
    return None


def _belong_together(scope: ast.Module | ast.FunctionDef, first: _Shuffled, second: _Shuffled) -> bool:
    """Whether two things that are shuffled alike are inputs and labels, and go into one call behind."""
    texts = ast.unparse(first.value), ast.unparse(second.value)
    if not _are_samples_and_labels(first, second):
        return False
    made = [_made_of(scope, text, second.statement.lineno) for text in texts]
    for call in nodes_in(scope, ast.Call):
        given = {ast.unparse(part) for part in nodes_in(call, ast.expr)}
        if call.lineno > second.statement.lineno and all(given & one for one in made):
            return True
    return False


def _made_of(scope: ast.AST, text: str, line: int) -> set[str]:
    """A name, and those that are bound behind a line to what is made of it alone: ``X = torch.tensor(features.to_numpy())``."""
    found = {text}
    for one in sorted(nodes_in(scope, ast.Assign), key=lambda one: one.lineno):
        given = {ast.unparse(part) for part in nodes_in(one.value, ast.expr)}
        if one.lineno > line and given & found and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            found.add(one.targets[0].id)
    return found


def _are_samples_and_labels(first: _Shuffled, second: _Shuffled) -> bool:
    if first.path == _SAMPLED and any(keyword_of(one.call, "random_state") is not None for one in (first, second)):
        return False
    same = first.path != second.path or ast.unparse(first.value) == ast.unparse(second.value)
    return not same and is_of_labels(first.value) != is_of_labels(second.value)


def _drawn_again(scope: ast.Module | ast.FunctionDef, first: _Shuffled, second: _Shuffled) -> bool:
    between = [part for part in scope.body if first.statement.lineno < part.lineno < second.statement.lineno]
    return any(word in called(call) for part in between for call in nodes_in(part, ast.Call) for word in _REPEATS)


def _finding(analysis: Analysis, first: _Shuffled, second: _Shuffled) -> Finding:
    source = analysis.source
    names = {"one": source.segment(first.value), "other": source.segment(second.value)}
    together = first.statement is second.statement
    place = source.span(first.call if together else first.statement).related(
        message("shuffled.first", one=names["one"])
    )
    return Finding(
        source.span(second.call if together else second.statement),
        message("shuffled.apart", **names),
        (place,),
        tuple(_together(analysis, first, second)),
    )


def _in_order_of(analysis: Analysis, first: _Shuffled, second: _Shuffled) -> Iterator[Candidate]:
    """One seed for both, so that they are drawn in one order."""
    changes = [edits.add_argument(analysis.source, one.call, "random_state=0") for one in (first, second)]
    yield Candidate(message("fix.one_order"), tuple(changes))


def _together(analysis: Analysis, first: _Shuffled, second: _Shuffled) -> Iterator[Candidate]:
    """One order for both: drawn in front of the first one."""
    source = analysis.source
    one, other = source.segment(first.value), source.segment(second.value)
    if first.path == _SAMPLED:
        yield from _in_order_of(analysis, first, second)
        return
    if "order" in names_in(analysis.tree(source.path)) or first.statement.lineno != first.statement.end_lineno:
        return
    function = source.segment(first.call.func)
    if first.path not in _SHUFFLES:
        line = f"order = {source.segment(first.call)}"
        changes = [edits.insert_line_before(source, first.statement, line)]
        changes += [edits.replace(source, shuffled.call, "order") for shuffled in (first, second)]
    else:
        of_lists = first.path == "random.shuffle"
        draw = f"{function}(order)" if of_lists else None
        begun = (
            f"order = list(range(len({one})))"
            if of_lists
            else f"order = {function[: -len('shuffle')]}permutation(len({one}))"
        )
        taken = [f"[{name}[i] for i in order]" if of_lists else f"{name}[order]" for name in (one, other)]
        lines = [begun, *([draw] if draw else []), f"{one}, {other} = {taken[0]}, {taken[1]}"]
        indent = edits.next_line(source, first.statement.lineno)
        changes = [
            edits.replace(source, first.statement, indent.join(lines)),
            edits.remove_line(source, second.statement.lineno),
        ]
    yield Candidate(message("fix.one_order"), tuple(changes))


RULE = Rule(FAULTS[CODE], find)
