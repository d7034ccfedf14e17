"""Finds, in the user's files, the lines that compute what a run has seen: weights of a loss, what is the same for each sample, checks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import (
    is_attribute,
    is_dotted,
    is_method_call,
    names_in,
    nodes_in,
    plain_name,
    returned_by,
)
from torchsleuth.training import Place
from torchsleuth.verdicts.evidence import Evidence
from torchsleuth.verdicts.text import Function, function_around, name_of, place_of, statements

_CHECKS = ("isfinite", "isnan", "isinf")
_DRAWN = re.compile(r"rand|choice|sample|shuffle|time|open|read|next|load")
"""Words in what is not the same each time."""


def rounded_weight(evidence: Evidence, place: Place) -> tuple[str, Place] | None:
    """The number that a term is multiplied with at a place, as it is written, and the only whole-number division that it is computed
    by: in its own expression, or in the function or object of the file that is called for it."""
    tree = evidence.tree(place.path)
    scope = function_around(tree, place.line) or tree
    for product in (node for node in nodes_in(scope, ast.BinOp) if isinstance(node.op, ast.Mult)):
        if not product.lineno <= place.line <= (product.end_lineno or 0):
            continue
        for factor in (product.left, product.right):
            found = [node for part in _computed_by(tree, scope, factor) for node in nodes_in(part, ast.BinOp)]
            quotients = [node for node in found if isinstance(node.op, ast.FloorDiv)]
            if len(quotients) == 1:
                return ast.unparse(factor), place_of(place.path, quotients[0])
    return None


def _computed_by(tree: ast.Module, scope: ast.AST, node: ast.expr) -> Iterator[ast.AST]:
    """An expression, what gives its name a value, and the function, or the method of an object, that it calls."""
    yield node
    name = plain_name(node)
    values = [one.value for one in of_kind(statements(scope), ast.Assign) if name in map(plain_name, one.targets)]
    called = [part for value in (node, *values) for part in nodes_in(value, ast.Call)]
    yield from values
    for call in called:
        functions = [one for one in nodes_in(tree, ast.FunctionDef) if one.name == name_of(call.func)]
        yield from functions if len(functions) == 1 else _called_objects(tree, name_of(call.func))


def _called_objects(tree: ast.Module, name: str) -> list[ast.FunctionDef]:
    """The ``__call__`` of the objects that a name is given in a file: ``plan(step)``, where ``net, plan = Net(), Plan()``."""
    kinds = set()
    for node in nodes_in(tree, ast.Assign):
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts))
            kinds |= {
                name_of(value)
                for one, value in pairs
                if isinstance(value, ast.Call) and (plain_name(one) == name or is_attribute(one, name))
            }
    return [
        method
        for kind in nodes_in(tree, ast.ClassDef)
        for method in of_kind(kind.body, ast.FunctionDef)
        if kind.name in kinds and method.name == "__call__"
    ]


def same_for_each(evidence: Evidence, path: str) -> Place | None:
    """The expressions that a ``__getitem__`` of a file computes of its object alone, whatever sample is asked for: in itself, or in a method that takes
    nothing. None where there are several."""
    found: dict[int, ast.expr] = {}
    for kind in nodes_in(evidence.tree(path), ast.ClassDef):
        methods = {one.name: one for one in of_kind(kind.body, ast.FunctionDef)}
        getter = methods.get("__getitem__")
        for node in nodes_in(getter, ast.Subscript, ast.Call) if getter is not None else ():
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.BinOp) and _of_object(node.value):
                found[id(node.value)] = node.value
            if isinstance(node, ast.Call) and is_dotted(node.func, "self") and not (node.args or node.keywords):
                results = returned_by(methods[name_of(node.func)]) if name_of(node.func) in methods else []
                found.update(
                    (id(one), one) for one in results if isinstance(one, ast.BinOp | ast.Call) and _of_object(one)
                )
    return place_of(path, next(iter(found.values()))) if len(found) == 1 else None


def _of_object(node: ast.expr) -> bool:
    """Whether an expression reads nothing but its object and modules, and calls something that takes all of it."""
    names = names_in(node) - {"self", "np", "numpy", "torch", "math"}
    return not names and any(nodes_in(node, ast.Call)) and not _DRAWN.search(ast.unparse(node))


def check_of_loss(evidence: Evidence, place: Place | None) -> Place | None:
    """The only condition in the function of a loss that asks whether it is finite."""
    if place is None:
        return None
    tree = evidence.tree(place.path)
    scope = function_around(tree, place.line) or tree
    tests = [
        node.test
        for node in nodes_in(scope, ast.If)
        if any(name_of(call.func) in _CHECKS for call in nodes_in(node.test, ast.Call))
    ]
    return place_of(place.path, tests[0]) if len(tests) == 1 else None


def put_into_training(evidence: Evidence, place: Place | None) -> Place | None:
    """The last ``train()`` in front of a backward(), in the loop around it."""
    if place is None:
        return None
    tree = evidence.tree(place.path)
    scope: Function | ast.Module = function_around(tree, place.line) or tree
    loops = [node for node in nodes_in(scope, ast.For, ast.While) if node.lineno < place.line <= (node.end_lineno or 0)]
    switches = [
        call
        for call in nodes_in(loops[0] if loops else scope, ast.Call)
        if is_method_call(call, "train") and not call.args and call.lineno < place.line
    ]
    return place_of(place.path, max(switches, key=lambda call: call.lineno)) if switches else None


_STATISTICS = frozenset({"mean", "std", "var", "std_mean", "var_mean", "amin", "amax"})


def by_own_statistics(evidence: Evidence, place: Place) -> Place | None:
    """The only statement in the function around a call that computes what it is given out of its own mean or deviation."""
    tree = evidence.tree(place.path)
    scope = function_around(tree, place.line) or tree
    given = {name for call in _calls_at(tree, place) for name in names_in(*call.args)}
    found = [
        one
        for one in of_kind(statements(scope), ast.Assign)
        if one.lineno <= place.line and names_in(*one.targets) & given
        for own in (names_in(*one.targets, one.value),)
        if any(name_of(call) in _STATISTICS and names_in(call) & own for call in nodes_in(one.value, ast.Call))
    ]
    return place_of(place.path, found[0]) if len(found) == 1 else None


def _calls_at(tree: ast.Module, place: Place) -> list[ast.Call]:
    return [one for one in nodes_in(tree, ast.Call) if place_of(place.path, one).span == place.span]


def given_to(evidence: Evidence, place: Place | None, kind: str) -> Place | None:
    """Where an object of a class is made that a call is given: in its arguments, or as the value of a variable in them."""
    if place is None:
        return None
    tree = evidence.tree(place.path)
    scope = function_around(tree, place.line) or tree
    names = {name for call in _calls_at(tree, place) for name in names_in(*call.args[:1])}
    values = [
        one.value
        for one in of_kind(statements(scope), ast.Assign)
        if one.lineno <= place.line and names & set(map(plain_name, one.targets))
    ]
    made = [
        part
        for value in (*values, *_calls_at(tree, place))
        for part in nodes_in(value, ast.Call)
        if name_of(part.func) == kind
    ]
    return place_of(place.path, made[0]) if len({id(one) for one in made}) == 1 else None


def shifts(evidence: Evidence, place: Place) -> Place | None:
    """The only statement in the function around a loss that leaves out the first element of the sequences in a batch:
    ``labels[:, 1:]``."""
    tree = evidence.tree(place.path)
    scope = function_around(tree, place.line) or tree
    found = [
        one
        for one in statements(scope)
        if isinstance(one, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr)
        and any(_leaves_out_the_first(part) for part in nodes_in(one, ast.Subscript))
    ]
    return place_of(place.path, found[0]) if len(found) == 1 else None


def _leaves_out_the_first(node: ast.Subscript) -> bool:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    lower = parts[1].lower if len(parts) > 1 and isinstance(parts[1], ast.Slice) else None
    return isinstance(lower, ast.Constant) and lower.value == 1


def set_to(evidence: Evidence, near: Place | None, name: str, number: float) -> Place | None:
    """The only place in a file that gives a setting of this name a number, whatever holds it: an argument, a field, the default of an
    option, a line of a text such as JSON."""
    if near is None:
        return None
    found: dict[int, Place] = {}
    for node in ast.walk(evidence.tree(near.path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            written = re.compile(rf"{name}\W{{1,6}}{re.escape(repr(number))}(?![\d.e])")
            lines = node.value.splitlines() if (node.end_lineno or node.lineno) > node.lineno else []
            for line, text in enumerate(lines, node.lineno):
                if written.search(text):
                    found[line] = Place(near.path, line)
        for key, value in _settings(node):
            if key.lstrip("-").replace("-", "_") == name and isinstance(value, ast.Constant) and value.value == number:
                found[value.lineno] = place_of(near.path, value)
    return next(iter(found.values())) if len(found) == 1 else None


def _settings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names of settings and what they are given in one node of a tree."""
    match node:
        case ast.Call():
            yield from ((one.arg, one.value) for one in node.keywords if one.arg is not None)
            options = [one.value for one in of_kind(node.args, ast.Constant) if isinstance(one.value, str)]
            defaults = [one.value for one in node.keywords if one.arg == "default"]
            yield from ((option, default) for option in options for default in defaults)
        case ast.Dict():
            pairs = zip(node.keys, node.values)
            yield from ((str(key.value), value) for key, value in pairs if isinstance(key, ast.Constant))
        case ast.AnnAssign():
            if node.value is not None:
                yield name_of(node.target), node.value
        case ast.Assign():
            yield from ((name_of(target), node.value) for target in node.targets)
