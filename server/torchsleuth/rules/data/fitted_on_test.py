"""fitted-on-test: what scales the inputs is fitted to the test set, too.

What it finds
    `fit_transform()` or `fit()` of a scaler, first with the training part of a split and then with its other part, or with what
    is named like one; also in a function that is called for either part. A hint: `fit_transform()` of all data in front of
    `train_test_split()`.
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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    by_position,
    called,
    given_to,
    is_binary,
    is_literal,
    is_method_call,
    is_reference,
    last_word,
    names_in,
    nodes_in,
    parts_of_tuple,
    plain_name,
    returned_by,
)
from torchsleuth.syntax.substitution import substituted
from torchsleuth.syntax.trees import Index

CODE = "TS630"
_HELD_OUT = re.compile(r"(^|[^a-z])(test|val|valid|validation|dev|eval|holdout)([^a-z]|$)", re.IGNORECASE)
_TRAINED_ON = re.compile("train", re.IGNORECASE)
_FITS = ("fit_transform", "fit")


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _by_hand(analysis)
    yield from _before_split(analysis)
    yield from _by_helper(analysis)
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


_SCALERS = frozenset(
    "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler QuantileTransformer PowerTransformer".split()
)


def _before_split(analysis: Analysis) -> Iterator[Finding]:
    """``X = scaler.fit_transform(X)``, and then ``train_test_split(X, y)``."""
    source = analysis.source
    for scope in analysis.scopes if "train_test_split(" in source.text and ".fit_transform(" in source.text else ():
        assigned = [one for one in scope.body if isinstance(one, ast.Assign)]
        made = {ast.unparse(target): value for one in assigned for target, value in assigned_pairs(one)}
        for statement in assigned:
            fit = statement.value
            name = plain_name(statement.targets[0])
            if not is_method_call(fit, "fit_transform") or name is None or len(fit.args) != 1:
                continue
            scaler = made.get(ast.unparse(fit.func.value), fit.func.value)
            split = next((one for one in assigned if one.lineno > statement.lineno and _splits(one, name)), None)
            if called(scaler) in _SCALERS and split is not None:
                words = {"scaler": source.segment(fit.func.value), "data": source.segment(fit.args[0])}
                place = source.span(split.value).related(message("fitted.split"))
                yield Finding(source.span(fit), message("fitted.whole", **words), (place,), severity="hint")


def _splits(statement: ast.Assign, name: str) -> bool:
    value = statement.value
    return called(value) == "train_test_split" and name in [plain_name(one) for one in given_to(value)]


def _by_names(analysis: Analysis, scope: ast.Module | ast.FunctionDef, split: set[str]) -> Iterator[Finding]:
    """The same of data that was split in another way, where its names say which part is which."""
    fits = [call for part in scope.body for call in nodes_in(part, ast.Call) if is_method_call(call, *_FITS)]
    fits = [call for call in fits if len(call.args) == 1 and not call.keywords and not names_in(call.args[0]) & split]
    for first, second in pairwise(sorted(fits, key=lambda call: call.lineno)):
        train, test = ast.unparse(first.args[0]), ast.unparse(second.args[0])
        held_out = _HELD_OUT.search(test) and not _HELD_OUT.search(train) and not _TRAINED_ON.search(test)
        if held_out and test != train and _of_one(scope, first, second):
            yield _finding(analysis, first, second)


_STATISTICS = frozenset("mean std var min max amin amax quantile".split())


@dataclass(frozen=True)
class _Scaled:
    """A statement that scales data by their own statistics. `by`: these, by the name of the function."""

    statement: ast.Assign
    data: ast.expr
    by: dict[str, ast.expr]


def _by_hand(analysis: Analysis) -> Iterator[Finding]:
    """Two parts of the data, each of which is scaled by its own mean and deviation."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    helpers = {one.name for one in index.of_type(ast.FunctionDef) if _scales_its_argument(one)}
    if not any(f".{name}(" in source.text for name in _STATISTICS):
        return
    for scope in analysis.scopes:
        found = list(_scaled_in(scope, helpers))
        parts = [one for one in found if _is_held_out(one)]
        for held in parts:
            others = [one for one in found if one not in parts and _alike(one, held)]
            if others:
                values = {"test": source.segment(held.data), "train": source.segment(others[0].data)}
                place = source.span(others[0].statement).related(message("fitted.train.scaled"))
                fix = tuple(_scaled_alike(analysis, held, others[0]))
                yield Finding(source.span(held.statement.value), message("fitted.own", **values), (place,), fix)


def _is_held_out(one: _Scaled) -> bool:
    """Whether data are named as those of a test."""
    names = (ast.unparse(one.data), *(ast.unparse(target) for target in one.statement.targets))
    return any(_HELD_OUT.search(name) for name in names) and not any(_TRAINED_ON.search(name) for name in names)


def _alike(one: _Scaled, other: _Scaled) -> bool:
    """Whether both are scaled by the same kinds of statistics, or by one function, and the first one is trained on."""
    trained = any(_TRAINED_ON.search(ast.unparse(part)) for part in (one.data, *one.statement.targets))
    return trained and one.by.keys() == other.by.keys() and ast.unparse(one.data) != ast.unparse(other.data)


def _scaled_in(scope: ast.Module | ast.FunctionDef, helpers: set[str]) -> Iterator[_Scaled]:
    inner = {id(part) for one in nodes_in(scope, ast.FunctionDef) if one is not scope for part in ast.walk(one)}
    statements = [one for one in nodes_in(scope, ast.Assign) if id(one) not in inner and len(one.targets) == 1]
    bound = {plain_name(target): value for one in statements for target, value in assigned_pairs(one)}
    for statement in statements:
        value = statement.value
        if called(value) in helpers and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            yield _Scaled(statement, value.args[0], {called(value): value})
        else:
            known = _scaling(value, bound)
            if known is not None:
                yield _Scaled(statement, *known)


def _scaling(value: ast.expr, bound: Mapping[str | None, ast.expr]) -> tuple[ast.expr, dict[str, ast.expr]] | None:
    """What a quotient scales, and by which statistics of it; None of other expressions."""
    if not is_binary(value, ast.Div) or not is_binary(value.left, ast.Sub):
        return None
    data, by = value.left.left, dict[str, ast.expr]()
    for place in (value.left.right, value.right):
        for part in ast.walk(place):
            given = bound.get(part.id) if isinstance(part, ast.Name) else part
            if isinstance(given, ast.Call) and (of := _of_statistic(given)) is not None:
                if ast.unparse(of) != ast.unparse(data):
                    return None
                by[called(given)] = part if isinstance(part, ast.Name) else given
    return (data, by) if len(by) > 1 and is_reference(data) else None


def _of_statistic(call: ast.Call) -> ast.expr | None:
    """``x`` of ``x.mean()``, or of ``np.mean(x)``, where it is over all samples."""
    if not is_method_call(call, *_STATISTICS):
        return None
    package = isinstance(call.func.value, ast.Name) and call.func.value.id in ("np", "numpy", "torch")
    dim = argument_of(call, 1 if package else 0, "dim", "axis")
    if dim is not None and not any(is_literal(part, 0) for part in parts_of_tuple(dim)):
        return None  # each sample by its own
    return (call.args[0] if call.args else None) if package else call.func.value


def _scales_its_argument(function: ast.FunctionDef) -> bool:
    """Whether a function gives its only argument, scaled by its own statistics."""
    results, parameters = returned_by(function), by_position(function.args)
    pairs = [pair for one in nodes_in(function, ast.Assign) for pair in assigned_pairs(one)]
    known = _scaling(results[0], {plain_name(target): value for target, value in pairs}) if len(results) == 1 else None
    return known is not None and len(parameters) == 1 and plain_name(known[0]) == parameters[0].arg


def _scaled_alike(analysis: Analysis, held: _Scaled, trained: _Scaled) -> Iterator[Candidate]:
    """The statistics of the training, where they have names, in the place of those of the test."""
    source = analysis.source
    pairs = [(held.by[name], trained.by[name]) for name in held.by]
    if all(isinstance(other, ast.Name) and isinstance(own, ast.Call) for own, other in pairs):
        changes = tuple(edits.replace(source, own, source.segment(other)) for own, other in pairs)
        title = message("fix.replace", old=source.segment(pairs[0][0]), new=source.segment(pairs[0][1]))
        yield Candidate(title, changes)


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


@dataclass(frozen=True)
class _Helper:
    """A function in which a scaler that outlives it is fitted to data of its own `parameter`. `place`: its number in calls."""

    name: str
    fit: ast.Call
    scaler: ast.expr
    parameter: str
    place: int


def _by_helper(analysis: Analysis) -> Iterator[Finding]:
    """One function scales both parts of the data, and fits the scaler each time."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    for helper in _helpers(index):
        calls = [call for call in index.of_type(ast.Call) if last_word(call.func) == helper.name]
        given = [(call, argument_of(call, helper.place, helper.parameter)) for call in calls]
        used = [
            (edits.enclosing_statement(analysis.tree(source.path), call), data)
            for call, data in given
            if data is not None
        ]
        parts = [(part, data) for part, data in used if isinstance(part, ast.Assign)]
        trained = next(((part, data) for part, data in parts if _named(part, _TRAINED_ON)), None)
        held = next(((part, data) for part, data in parts if _named(part, _HELD_OUT)), None)
        if trained is None or held is None or _named(held[0], _TRAINED_ON):
            continue
        names = {"scaler": source.segment(helper.scaler), "test": source.segment(held[1])}
        place = source.span(trained[0]).related(message("fitted.train"))
        fix = _fitted_before(analysis, helper, *trained)
        yield Finding(source.span(helper.fit), message("fitted.test", **names), (place,), (fix,))


def _helpers(index: Index) -> Iterator[_Helper]:
    for function in index.of_type(ast.FunctionDef):
        positions = by_position(function.args)
        bound = {part.id for part in nodes_in(function, ast.Name) if isinstance(part.ctx, ast.Store)}
        own = {one.arg for one in positions if one.arg != "self"} | bound
        for fit in nodes_in(function, ast.Call):
            if not is_method_call(fit, "fit_transform") or len(fit.args) != 1 or not is_reference(fit.func.value):
                continue
            scaler = fit.func.value
            uses = [call for call in nodes_in(function, ast.Call) if is_method_call(call) and call is not fit]
            again = any(ast.unparse(call.func.value) == ast.unparse(scaler) for call in uses if is_method_call(call))
            data = [place for place, one in enumerate(positions) if one.arg in names_in(fit.args[0])]
            if len(data) == 1 and not again and not names_in(scaler) & own and positions[data[0]].arg != "self":
                is_method = positions[0].arg == "self"
                yield _Helper(function.name, fit, scaler, positions[data[0]].arg, data[0] - is_method)


def _named(statement: ast.Assign, names: re.Pattern[str]) -> bool:
    return any(names.search(ast.unparse(target)) for target in statement.targets)


def _fitted_before(analysis: Analysis, helper: _Helper, statement: ast.stmt, data: ast.expr) -> Candidate:
    """The scaler fitted to the training part once, in front of the first call, and only used in the function."""
    source, fit = analysis.source, helper.fit
    function = source.segment(fit.func).removesuffix("fit_transform")
    whole = ast.unparse(substituted(fit.args[0], helper.parameter, data))
    changes = (
        edits.insert_line_before(source, statement, f"{function}fit({whole})"),
        edits.replace(source, fit.func, f"{function}transform"),
    )
    return Candidate(message("fix.insert", text=f"{function}fit({whole})"), changes)


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
