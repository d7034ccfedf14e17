"""statistics-rebound: data that is scaled with the mean of other data, as the names of its own were used again.

What it finds
    `(X_test - mean) / std` where `mean` and `std` were those of `X_train` when that was scaled, and are those of the targets by now.
Why it hurts
    The test data is moved to where the model has never seen any. The numbers look bad, or worse, only somewhat bad. Nothing is raised.
Example
    mean, std = X_train.mean(0), X_train.std(0)
    X_train = (X_train - mean) / std
    mean, std = y_train.mean(), y_train.std()
    y_train = (y_train - mean) / std
    X_test = (X_test - mean) / std
Use instead
    mean, std = X_train.mean(0), X_train.std(0)
    X_train = (X_train - mean) / std
    y_mean, y_std = y_train.mean(), y_train.std()
    y_train = (y_train - y_mean) / y_std
    X_test = (X_test - mean) / std
Fix safety
    There is no fix: which of the numbers further down are meant is not known.
References
    torch.Tensor.mean, torch.Tensor.std
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.syntax.forms import assigned_pairs, called, is_binary, is_method_call, nodes_in, plain_name, stored_in

CODE = "TS656"
_STATISTICS = ("mean", "std", "min", "max", "amin", "amax")


def find(analysis: Analysis) -> Iterator[Finding]:
    for scope in analysis.scopes:
        yield from _in_block(analysis, scope.body)


def _in_block(analysis: Analysis, body: list[ast.stmt]) -> Iterator[Finding]:
    """In statements that follow each other."""
    roots: dict[str, str] = {}
    taken: dict[str, tuple[str, ast.expr]] = {}
    scaled: dict[tuple[str, str], str] = {}
    for statement in body:
        if not isinstance(statement, ast.Assign):
            taken = {name: held for name, held in taken.items() if name not in stored_in(statement)}
            continue
        pairs = _pairs(statement)
        for target, value in pairs:
            part = _scaling(value)
            name = plain_name(target)
            if part is not None and part[1] in taken:
                data, mean = part
                of, place = taken[mean]  # what they are the statistics of, and where they were computed
                if of == data and data in roots:
                    scaled[mean, roots[data]] = data
                before = scaled.get((mean, roots.get(data, "")))
                if before is not None and before != of and roots.get(of, roots[data]) != roots[data]:
                    text = message("statistics.rebound", data=data, name=mean, of=of, before=before)
                    places = (analysis.source.span(place).related(message("statistics.bound")),)
                    yield Finding(analysis.source.span(value), text, places)
            if name is None:
                continue
            statistic = _statistic_of(value)
            taken.pop(name, None)
            if statistic is not None:
                taken[name] = (statistic, value)
            root = _root(value)
            if root is not None:
                roots[name] = root
            elif part is None or part[0] != name:
                roots.pop(name, None)


def _pairs(statement: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """The targets with their values; of ``train_test_split(X, y)`` each two targets with what they are parts of."""
    target, value = statement.targets[0], statement.value
    if called(value) == "train_test_split" and isinstance(value, ast.Call) and isinstance(target, ast.Tuple):
        if len(target.elts) == 2 * len(value.args):
            wholes = [ast.Subscript(part, ast.Constant(0), ast.Load()) for part in value.args for _ in range(2)]
            return list(zip(target.elts, wholes))
    return list(assigned_pairs(statement))


def _root(value: ast.expr) -> str | None:
    """``X`` of ``X[:200]``"""
    return plain_name(value.value) if isinstance(value, ast.Subscript) else None


def _statistic_of(value: ast.expr) -> str | None:
    """``X`` of ``X.mean(0)`` and ``np.mean(X, axis=0)``"""
    for call in nodes_in(value, ast.Call):
        if is_method_call(call, *_STATISTICS):
            owner = plain_name(call.func.value)
            first = plain_name(call.args[0]) if call.args else None
            return first if owner in ("torch", "np", "numpy") else owner
    return None


def _scaling(value: ast.expr) -> tuple[str, str] | None:
    """The data and the mean of ``(X - mean) / std``"""
    if not isinstance(value, ast.BinOp) or not is_binary(value, ast.Div):
        return None
    moved = value.left
    if not isinstance(moved, ast.BinOp) or not is_binary(moved, ast.Sub):
        return None
    data, mean = plain_name(moved.left), plain_name(moved.right)
    return (data, mean) if data is not None and mean is not None else None


RULE = Rule(FAULTS[CODE], find)
