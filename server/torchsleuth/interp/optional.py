"""Parameters whose default is None, and without which a function raises: what its text, and what it calls, do with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.calls import arguments
from torchsleuth.syntax.forms import contains, is_dotted, is_literal, is_name, loads, nodes_in, plain_name
from torchsleuth.values import ClassValue, Function, Value

MAX_DEPTH = 3
"""Functions and modules to which a parameter is passed on, one from the other."""


@dataclass(frozen=True)
class Body:
    """A function as it is written, with the names around it. `owner`: the class whose method it is."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    globals: Mapping[object, Value]
    owner: ClassValue | None = None


def is_needed(function: Body, name: str, anywhere: bool = False, depth: int = 0) -> bool:
    """Whether a function does with a parameter what None cannot do, and never asks for it. `anywhere`: it need not be what every call
    does."""
    node = function.node
    mentions = [one for one in nodes_in(node, ast.Name) if one.id == name]
    asked = {part for test in _questions(node) for part in ast.walk(test)}
    if isinstance(node, ast.Lambda) or any(not loads(one) or one in asked for one in mentions):
        return False
    for statement in _statements(node.body, anywhere):
        for part in ast.walk(statement):
            if _uses(part, name):
                return True
            if isinstance(part, ast.Call) and depth < MAX_DEPTH:
                if any(is_needed(*inside, anywhere, depth + 1) for inside in _passed_on(part, name, function)):
                    return True
    return False


def _statements(body: list[ast.stmt], anywhere: bool) -> Iterator[ast.stmt]:
    """The statements without others inside: those that are always reached, or all of them."""
    for one in body:
        if isinstance(one, ast.With):
            yield from _statements(one.body, anywhere)
        elif isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return):
            if anywhere or not contains(one, ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension):
                yield one
            if isinstance(one, ast.Return):
                return
        elif anywhere:
            for field in ("body", "orelse", "handlers", "finalbody"):
                yield from _statements(of_kind(getattr(one, field, []), ast.stmt), anywhere)
        elif contains(one, ast.Return, ast.Raise):
            return


def _questions(function: ast.AST) -> Iterator[ast.expr]:
    """The tests that a function makes before it goes on."""
    for node in ast.walk(function):
        match node:
            case ast.BoolOp(values=values):
                yield from values
            case ast.Compare(left=left, comparators=others):
                yield from (left, *others) if any(is_literal(one, None) for one in others) else ()
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
                yield test


def _uses(node: ast.AST, name: str) -> bool:
    """Whether an expression asks something of a variable that None has not."""
    match node:
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
            return is_name(value, name)
        case ast.Assign(targets=[ast.Tuple()], value=value):
            return is_name(value, name)
        case ast.BinOp(left=left, right=right):
            return is_name(left, name) or is_name(right, name)
    return False


def _passed_on(call: ast.Call, name: str, function: Body) -> Iterator[tuple[Body, str]]:
    """The functions, and the modules that the class makes, which get a variable as it is, and what each of them calls it."""
    if not any(is_name(one, name) for one in (*call.args, *(word.value for word in call.keywords))):
        return
    inside: Body | None = None
    if isinstance(call.func, ast.Name):
        called = as_kind(function.globals.get(call.func.id), Function)
        inside = None if called is None else Body(called.node, called.globals)
    elif is_dotted(call.func, "self") and function.owner is not None:
        inside = _forward_of(_module_made(call.func.attr, function.owner))
    if inside is None:
        return
    names = [argument.arg for argument in inside.node.args.args[0 if inside.owner is None else 1 :]]
    for parameter, given in arguments(call, names).items():
        if is_name(given, name):
            yield inside, parameter


def _forward_of(cls: ClassValue | None) -> Body | None:
    """The forward that a class has in its own text, whatever decorators make of it."""
    made = None if cls is None else as_kind(cls.slots.get("__init__"), Function)
    if cls is None or made is None:
        return None
    written = (one for one in of_kind(cls.node.body, ast.FunctionDef) if one.name == "forward")
    return next((Body(one, made.globals, cls) for one in written), None)


def _module_made(attribute: str, owner: ClassValue) -> ClassValue | None:
    """The class of the module that a constructor puts into an attribute, where it is one only."""
    made = as_kind(owner.slots.get("__init__"), Function)
    if made is None:
        return None
    found = [
        as_kind(made.globals.get(plain_name(node.value.func) or ""), ClassValue)
        for node in nodes_in(made.node, ast.Assign)
        if isinstance(node.value, ast.Call)
        if any(is_dotted(one, "self") and one.attr == attribute for one in node.targets)
    ]
    return found[0] if len(found) == 1 else None


__all__ = ["Body", "is_needed"]
