"""fitted-on-test: what scales the inputs is fitted to the test set, too.

What it finds
    `fit_transform()` or `fit()` of a scaler, first with the training part of a split and then with its other part, or with what
    is named like one.
Why it hurts
    The test set is scaled by its own mean and deviation: the model sees other numbers for the same value than in training, and
    the measured error says nothing of a sample that comes alone. Nothing is raised.
Example
    X_train = scaler.fit_transform(X_train)
    X_test = scaler.fit_transform(X_test)
Use instead
    X_train = scaler.fit_transform(X_train)
    X_test = scaler.transform(X_test)
Fix safety
    Safe: the test set is scaled as the training set is.
References
    "Common pitfalls and recommended practices" in the scikit-learn user guide
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_method_call,
    is_reference,
    names_in,
    nodes_in,
    plain_name,
)

CODE = "TS630"
_HELD_OUT = re.compile(r"(^|[^a-z])(test|val|valid|validation|dev|eval|holdout)([^a-z]|$)", re.IGNORECASE)
_TRAINED_ON = re.compile("train", re.IGNORECASE)
_FITS = ("fit_transform", "fit")


def find(analysis: Analysis) -> Iterator[Finding]:
    if not any(name in analysis.source.text for name in (".fit_transform(", ".fit(")):
        return
    for scope in analysis.scopes:
        others = dict(pair for statement in scope.body for pair in _split(statement))
        fits = [call for statement in scope.body for call in nodes_in(statement, ast.Call) if _fits(call)]
        for train, test in others.items():
            first = next((call for call in fits if plain_name(call.args[0]) == train), None)
            second = next((call for call in fits if plain_name(call.args[0]) == test), None)
            if first is not None and second is not None and _of_one(scope, first, second):
                yield _finding(analysis, first, second)
        yield from _by_names(analysis, scope, {part for pair in others.items() for part in pair})


def _by_names(analysis: Analysis, scope: ast.Module | ast.FunctionDef, split: set[str]) -> Iterator[Finding]:
    """The same of data that was split in another way, where its names say which part is which."""
    fits = [call for part in scope.body for call in nodes_in(part, ast.Call) if is_method_call(call, *_FITS)]
    fits = [call for call in fits if len(call.args) == 1 and not call.keywords and not names_in(call.args[0]) & split]
    for first, second in pairwise(sorted(fits, key=lambda call: call.lineno)):
        train, test = ast.unparse(first.args[0]), ast.unparse(second.args[0])
        held_out = _HELD_OUT.search(test) and not _HELD_OUT.search(train) and not _TRAINED_ON.search(test)
        if held_out and test != train and _of_one(scope, first, second):
            yield _finding(analysis, first, second)


def _split(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names of the two parts of each thing that is split: ``a, b, c, d = train_test_split(x, y)``."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if (
        isinstance(statement, ast.Assign)
        and isinstance(target, ast.Tuple)
        and called(statement.value) == "train_test_split"
    ):
        names = [plain_name(part) or "" for part in target.elts]
        yield from zip(names[::2], names[1::2])


def _fits(call: ast.Call) -> bool:
    return is_method_call(call, *_FITS) and len(call.args) == 1 and isinstance(call.args[0], ast.Name)


def _of_one(scope: ast.Module | ast.FunctionDef, first: ast.Call, second: ast.Call) -> bool:
    """Whether both fit one object, which is not made anew in between, and the second stands behind the first."""
    if not is_method_call(first) or not is_method_call(second) or not is_reference(first.func.value):
        return False
    name = ast.unparse(first.func.value)
    between = [part for part in scope.body if first.lineno < part.lineno <= second.lineno]
    anew = any(
        ast.unparse(target) == name
        for part in between
        for statement in nodes_in(part, ast.Assign)
        for target, _ in assigned_pairs(statement)
    )
    return ast.unparse(second.func.value) == name and first.lineno < second.lineno and not anew


def _finding(analysis: Analysis, first: ast.Call, second: ast.Call) -> Finding:
    source = analysis.source
    fix: tuple[Candidate, ...] = ()
    if is_method_call(second, "fit_transform"):
        function = source.segment(second.func)
        fix = (replacement(source, second.func, f"{function.removesuffix('fit_transform')}transform"),)
    names = {"scaler": source.segment(first.func).rpartition(".")[0], "test": source.segment(second.args[0])}
    place = source.span(first).related(message("fitted.train"))
    return Finding(source.span(second), message("fitted.test", **names), (place,), fix)


RULE = Rule(FAULTS[CODE], find)
