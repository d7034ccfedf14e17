"""default-shared: a list that is the default of a parameter, and grows with every call.

What it finds
    A parameter whose default is a list that the function appends to and takes a sum or a mean of, where the file calls the function in a loop, or
    more than once, without that argument.
Why it hurts
    Python makes a default once. What one call has appended is there in the next: the mean over "this" epoch is that over all
    of them, and tensors are kept for ever. Nothing is raised.
Example
    def evaluate(model, loader, losses=[]):
        ...
        losses.append(loss.item())
        return sum(losses) / len(losses)
Use instead
    def evaluate(model, loader, losses=None):
        losses = [] if losses is None else losses
        ...
        losses.append(loss.item())
        return sum(losses) / len(losses)
Fix safety
    Safe where the list is not meant to last.
References
    "Default Argument Values" in the Python tutorial
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import by_position, called, is_attribute, is_name, is_spread, is_text, nodes_in, stored_in

CODE = "TS564"
_GROWING = frozenset({"append", "extend", "insert"})
_SUMMARIES = frozenset("sum mean average median stack cat concat concatenate tensor".split())
"""Functions of all that a list holds: what earlier calls have put in is not meant."""


def find(analysis: Analysis) -> Iterator[Finding]:
    index = analysis.index(analysis.source.path)
    for function in index.of_type(ast.FunctionDef):
        for place, name, default in _lists(function):
            grown = _grown(function, name)
            calls = [call for call in index.of_type(ast.Call) if _leaves_out(call, function, place, name)]
            again = len(calls) > 1 or any(of_kind(index.trail(call), ast.For, ast.While) for call in calls)
            if grown is not None and again:
                yield _finding(analysis, function, name, default, grown)


def _lists(function: ast.FunctionDef) -> Iterator[tuple[int, str, ast.expr]]:
    """The parameters whose default is a list that is written out: place, name, default."""
    named = by_position(function.args)
    start = len(named) - len(function.args.defaults)
    for place, (parameter, default) in enumerate(zip(named[start:], function.args.defaults), start):
        if isinstance(default, ast.List) and not parameter.arg.startswith("_"):
            yield place, parameter.arg, default


def _grown(function: ast.FunctionDef, name: str) -> ast.Call | None:
    """Where the function makes the list grow, of which it takes a sum or a mean, and which it never replaces."""
    growing = [
        call
        for call in nodes_in(function, ast.Call)
        if is_attribute(call.func, *_GROWING) and is_name(call.func.value, name)
    ]
    summed = any(
        called(call) in _SUMMARIES and any(is_name(part, name) for part in call.args)
        for call in nodes_in(function, ast.Call)
    )
    return growing[0] if growing and summed and name not in stored_in(function) else None


def _leaves_out(call: ast.Call, function: ast.FunctionDef, place: int, name: str) -> bool:
    """Whether a call gives no list of its own."""
    bound = place - (1 if isinstance(call.func, ast.Attribute) else 0)
    given = len(call.args) > bound or any(part.arg in (name, None) for part in call.keywords)
    return called(call) == function.name and not given and not is_spread(call.args)


def _finding(analysis: Analysis, function: ast.FunctionDef, name: str, default: ast.expr, grown: ast.Call) -> Finding:
    source = analysis.source
    documented = isinstance(function.body[0], ast.Expr) and is_text(function.body[0].value) and len(function.body) > 1
    first = function.body[1 if documented else 0]
    line = f"{name} = [] if {name} is None else {name}"
    changes = (edits.replace(source, default, "None"), edits.insert_line_before(source, first, line))
    fix = Candidate(message("fix.own_list", name=name), changes)
    place = source.span(grown).related(message("default.grows"))
    return Finding(source.span(default), message("default.shared", name=name), (place,), (fix,))


RULE = Rule(FAULTS[CODE], find)
