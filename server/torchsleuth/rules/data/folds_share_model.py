"""folds-share-model: one network is trained through all folds of a cross-validation.

What it finds
    A loop over the `split()` of KFold and its like that trains and measures a network made in front of it, where nothing in the loop
    makes it anew, copies it or gives it weights.
Why it hurts
    From the second fold on the network has been trained on what it is measured on: the mean of the folds is that of its memory.
    Nothing is raised.
Example
    model = Net()
    for train, valid in KFold(5).split(X):
        fit(model, X[train], y[train])
        scores.append(score(model, X[valid], y[valid]))
Use instead
    for train, valid in KFold(5).split(X):
        model = Net()
        fit(model, X[train], y[train])
        scores.append(score(model, X[valid], y[valid]))
Fix safety
    Safe: each fold begins with new weights.
References
    sklearn.model_selection.KFold
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import trained_by
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_method_call,
    is_name,
    names_in,
    nodes_in,
    parts_of_tuple,
    plain_name,
    stored_in,
)

CODE = "TS664"
_FOLDS = frozenset(
    "KFold StratifiedKFold GroupKFold RepeatedKFold ShuffleSplit StratifiedShuffleSplit RepeatedStratifiedKFold LeaveOneOut "
    "StratifiedGroupKFold".split()
)
_RENEWS = frozenset(
    "load_state_dict deepcopy copy clone reset_parameters apply reset init_weights reset_weights weight_reset".split()
)
"""Calls that may give a network the weights that it began with."""


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if not any(f"{name}(" in source.text for name in _FOLDS):
        return
    for loop in index.of_type(ast.For):
        scope = next(one for one in reversed(index.trail(loop)) if isinstance(one, ast.FunctionDef | ast.Module))
        names = [plain_name(part) for part in parts_of_tuple(_indices(loop))]
        if not _is_over_folds(scope, loop) or len(names) != 2 or _renews(loop):
            continue
        for made in _trained(analysis, scope, loop, names[0], names[1]):
            place = source.span(loop.iter).related(message("folds.loop"))
            text = message("folds.share", model=source.segment(made.targets[0]))
            yield Finding(source.span(made), text, (place,), tuple(_made_in_loop(analysis, scope, made, loop)))


def _indices(loop: ast.For) -> ast.expr:
    """``train, valid`` of ``for fold, (train, valid) in enumerate(…)``."""
    target = loop.target
    if called(loop.iter) == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        return target.elts[1]
    return target


def _is_over_folds(scope: ast.AST, loop: ast.For) -> bool:
    over = loop.iter
    if isinstance(over, ast.Call) and called(over) == "enumerate" and over.args:
        over = over.args[0]
    if not is_method_call(over, "split"):
        return False
    maker = over.func.value
    pairs = [pair for one in nodes_in(scope, ast.Assign) for pair in assigned_pairs(one)]
    makers = [value for target, value in pairs if ast.unparse(target) == ast.unparse(maker)] or [maker]
    return all(called(one) in _FOLDS for one in makers)


def _renews(loop: ast.For) -> bool:
    return any(
        called(one) in _RENEWS or "reset" in called(one) or "init" in called(one) for one in nodes_in(loop, ast.Call)
    )


def _trained(
    analysis: Analysis, scope: ast.AST, loop: ast.For, train: str | None, valid: str | None
) -> Iterator[ast.Assign]:
    """Where the networks are made, in front of the loop, that it trains with one part, and calls with the other."""
    inside = stored_in(*loop.body)
    steps = [one for one in analysis.events("step") if _stands_in(one.site.call, loop)]
    forwards = [one for one in analysis.events("forward") if _stands_in(one.site.call, loop)]
    trained = [one for one in forwards if any(trained_by(step.subject, one.subject) for step in steps)]
    names = {plain_name(one.site.call.func) for one in trained if one.site.call is not None}
    for one in nodes_in(scope, ast.Assign):
        name = plain_name(one.targets[0])
        if name not in names or name in inside or one.lineno >= loop.lineno or not isinstance(one.value, ast.Call):
            continue
        calls = [call for call in nodes_in(loop, ast.Call) if is_name(call.func, name)]
        used = {part for call in calls for part in names_in(*call.args)}
        if {train, valid} <= used:
            yield one


def _stands_in(call: ast.Call | None, loop: ast.For) -> bool:
    return call is not None and loop.lineno < call.lineno <= (loop.end_lineno or 0)


def _made_in_loop(analysis: Analysis, scope: ast.AST, made: ast.Assign, loop: ast.For) -> Iterator[Candidate]:
    source, name = analysis.source, plain_name(made.targets[0])
    between = [one for one in nodes_in(scope, ast.Name) if one.id == name and made.lineno < one.lineno < loop.lineno]
    if made.lineno == made.end_lineno and not between:
        text = source.segment(made)
        changes = (edits.remove_line(source, made.lineno), edits.insert_line_before(source, loop.body[0], text))
        yield Candidate(message("fix.into_loop", text=text), changes)


RULE = Rule(FAULTS[CODE], find)
