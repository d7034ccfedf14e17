"""copies-on-both-sides: rows that are drawn with replacement before the data are split.

What it finds
    `df.sample(n, replace=True)`, `sklearn.utils.resample`, an over-sampler's `fit_resample`, or rows at indices from
    `np.random.choice(len(x), n)` or drawn from those of a class, `rng.choice(np.flatnonzero(y == 1), n)`, which go into `train_test_split` or `random_split` afterwards.
Why it hurts
    Most rows are there several times, and the split puts copies of one row on both sides. The validation asks for what was learned by
    heart: its score says nothing about new data, and chooses the wrong model.
Example
    rare = rare.sample(len(common), replace=True)
    train, val = train_test_split(pd.concat([rare, common]))
Use instead
    train, val = train_test_split(df)
    rare, common = train[train.label == 1], train[train.label == 0]
    train = pd.concat([rare.sample(len(common), replace=True), common])
Fix safety
    There is none: the split has to come first, and only the part that is trained on may be drawn from.
References
    "Common pitfalls and recommended practices" in the documentation of scikit-learn
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    is_definition,
    is_literal,
    is_method_call,
    nodes_in,
    returned_by,
)
from torchsleuth.syntax.trees import Index

CODE = "TS634"
_SPLITS = frozenset({"train_test_split", "random_split", "cross_val_score", "cross_validate", "cross_val_predict"})
_OVER = ("Over", "SMOTE", "ADASYN")
_JOINS = frozenset(
    "concat concatenate vstack hstack row_stack cat stack array asarray tensor as_tensor from_numpy shuffle".split()
)
_ORDERS = frozenset({"permutation", "sort", "sorted", "tolist", "list"})
_CONDITIONS = frozenset({"flatnonzero", "nonzero", "where", "argwhere"})
_DATASETS = frozenset({"TensorDataset", "DataFrame"})
_KEEPS = frozenset(
    "sample reset_index copy to_numpy astype drop float long to sort_values dropna fillna tolist clone".split()
)
"""Methods whose result has the same rows, or some of them."""
_DEPTH = 3


@dataclass
class _Flow:
    """What holds rows that were drawn with replacement, in one function after the other. `drawn`: by the name, the expression that
    gave it such rows and where they are drawn. `indices`: names of indices that were drawn, with the data that they are of, where
    that is written. `places`: names of the indices at which something holds."""

    index: Index
    depth: int = 0
    drawn: dict[str, tuple[ast.expr, ast.expr]] = field(default_factory=dict)
    indices: dict[str, tuple[str, ast.expr]] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)

    def follow(self, body: list[ast.stmt]) -> Iterator[tuple[ast.Call, ast.expr, ast.expr]]:
        """The splits of rows that were drawn: the call, the expression that gave the rows, and where they are drawn."""
        for statement in body:
            yield from self._splits(statement)
            if isinstance(statement, ast.Assign):
                for target, value in assigned_pairs(statement):
                    self._bind(target, value)
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and not isinstance(statement, ast.ClassDef) and not is_definition(statement):
                    yield from self.follow(inner)

    def _splits(self, statement: ast.stmt) -> Iterator[tuple[ast.Call, ast.expr, ast.expr]]:
        own = statement if not hasattr(statement, "body") else getattr(statement, "iter", None)
        for call in nodes_in(own, ast.Call) if own is not None else ():
            if called(call) in _SPLITS or _is_folding(self.index, call):
                given = [one for value in call.args if (one := self.rows(value)) is not None]
                yield from ((call, *one) for one in given[:1])

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        rows, source, holding = self.rows(value), self._drawn_from(value), _where_it_holds(value)
        for name in (part.id for part in nodes_in(target, ast.Name)):
            self.drawn.pop(name, None)
            self.indices.pop(name, None)
            self.places.discard(name)
            if holding:
                self.places.add(name)
            if rows is not None:
                self.drawn[name] = rows
            if source is not None:
                self.indices[name] = source

    def _drawn_from(self, value: ast.expr) -> tuple[str, ast.expr] | None:
        """The data that indices are of which were drawn with replacement, empty where that is not written; None of others."""
        match value:
            case ast.Name():
                return self.indices.get(value.id)
            case ast.List() | ast.Tuple():
                return next((one for part in value.elts if (one := self._drawn_from(part)) is not None), None)
            case ast.Call() if called(value) in _JOINS | _ORDERS:
                return next((one for part in value.args if (one := self._drawn_from(part)) is not None), None)
            case ast.Call() if _is_choice(value):
                given = value.args[0]
                if _where_it_holds(given) or isinstance(given, ast.Name) and given.id in self.places:
                    return "", value
                data = _counted(given)
                return (data, value) if data is not None else None
        return None

    def rows(self, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """The expression by which an expression has rows that were drawn, and where they are drawn; None of others."""
        match node:
            case ast.Name():
                return self.drawn.get(node.id)
            case ast.Subscript(value=base, slice=key):
                at = self.indices.get(key.id) if isinstance(key, ast.Name) else None
                if at is not None and ast.unparse(base) in (at[0] or ast.unparse(base), f"{at[0]}.iloc"):
                    return node, at[1]
                return self.rows(base)
            case ast.Attribute():
                return self.rows(node.value)
            case ast.Tuple() | ast.List():
                return next((one for part in node.elts if (one := self.rows(part)) is not None), None)
            case ast.Call():
                return self._of_call(node)
        return None

    def _of_call(self, call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
        if _draws(self.index, call):
            return call, call
        name = called(call)
        if is_method_call(call, *_KEEPS) and (inner := self.rows(call.func.value)) is not None:
            return inner
        if name in _JOINS | _DATASETS:
            return next((one for part in call.args if (one := self.rows(part)) is not None), None)
        functions = [one for one in self.index.of_type(ast.FunctionDef) if one.name == name]
        if len(functions) == 1 and self.depth < _DEPTH:
            inside = _Flow(self.index, self.depth + 1)
            list(inside.follow(functions[0].body))
            given = [one for value in returned_by(functions[0]) if (one := inside.rows(value)) is not None]
            return (call, given[0][1]) if given else None
        return None


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if not any(called(call) in _SPLITS or is_method_call(call, "split") for call in index.of_type(ast.Call)):
        return
    seen: set[int] = set()
    for scope in analysis.scopes:
        for split, given, drawn in _Flow(index).follow(scope.body):
            if id(given) in seen:
                continue
            seen.add(id(given))
            places = [source.span(split).related(message("copies.split"))]
            places += [source.span(drawn).related(message("copies.drawn"))] if drawn is not given else []
            text = message("copies.both", split=called(split), line=split.lineno)
            yield Finding(source.span(given), text, tuple(places))


def _is_folding(index: Index, call: ast.Call) -> bool:
    """``StratifiedKFold(5).split(x, y)``"""
    name = _class_of(index, call.func.value) if is_method_call(call, "split") and call.args else ""
    return name.endswith(("Fold", "ShuffleSplit")) and "Group" not in name


def _draws(index: Index, call: ast.Call) -> bool:
    """Whether a call draws rows with replacement."""
    name, replaces = called(call), argument_of(call, None, "replace")
    if is_method_call(call, "sample"):
        return is_literal(replaces, True)
    if name == "resample":
        imported = [one for one in index.of_type(ast.ImportFrom) if one.module == "sklearn.utils"]
        known = any(alias.name == "resample" for one in imported for alias in one.names)
        return known and (replaces is None or is_literal(replaces, True))
    if is_method_call(call, "fit_resample"):
        return any(word in _class_of(index, call.func.value) for word in _OVER)
    return False


def _class_of(index: Index, node: ast.expr) -> str:
    """The class of an object that is made where it is used, or that a name is bound to once."""
    if isinstance(node, ast.Name):
        bound = [
            value
            for one in index.of_type(ast.Assign)
            for target, value in assigned_pairs(one)
            if ast.unparse(target) == node.id
        ]
        node = bound[0] if len(bound) == 1 else node
    return called(node)


def _is_choice(call: ast.Call) -> bool:
    """``np.random.choice(x, n)``, which may give one several times."""
    replaces = argument_of(call, 2, "replace")
    several = argument_of(call, 1, "size") is not None and bool(call.args)
    return is_method_call(call, "choice") and several and (replaces is None or is_literal(replaces, True))


def _counted(count: ast.expr) -> str | None:
    """``x`` for ``len(x)``: what the indices below that number are of."""
    match count:
        case ast.Call(func=ast.Name(id="len"), args=[data]):
            return ast.unparse(data)
        case ast.Subscript(value=ast.Attribute(value=data, attr="shape")):
            return ast.unparse(data)
    return None


def _where_it_holds(value: ast.expr) -> bool:
    """``np.flatnonzero(y == 1)``, ``np.where(y == 1)[0]``: the indices at which a comparison holds."""
    node = value.value if isinstance(value, ast.Subscript) and is_literal(value.slice, 0) else value
    given = [*node.args, *([node.func.value] if is_method_call(node) else [])] if isinstance(node, ast.Call) else []
    return called(node) in _CONDITIONS and any(isinstance(one, ast.Compare | ast.UnaryOp) for one in given)


RULE = Rule(FAULTS[CODE], find)
