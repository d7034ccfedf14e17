"""Parameters that nobody passes, by where the code passes them on: a number of a layer's, a size of a view, the default of another
class; and those that a class takes as ``**kwargs`` and passes on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.calls import arguments
from torchsleuth.syntax.forms import (
    by_position,
    defaults_of,
    is_attribute,
    is_dotted,
    is_function_call,
    is_name,
    nodes_in,
)
from torchsleuth.tensors.dims import is_number
from torchsleuth.tensors.spec import Native, Parameter
from torchsleuth.values import ClassValue, Function, Tensor, Value, items_of

MAX_DEPTH = 3
"""Constructors that are followed inside of one another."""
Signature = Callable[[str], tuple[Parameter, ...] | None]
_SIZED = frozenset("view reshape expand repeat unflatten new_zeros new_ones new_empty zeros ones empty randn".split())
"""Operators whose arguments after the first, or all of them, are sizes."""
_MAKING = frozenset("zeros ones empty randn".split())


def numbers(owner: ClassValue, made: Function, signature: Signature, depth: int = 0) -> frozenset[str]:
    """The parameters of a constructor that the class passes, itself or as an attribute, where a function or layer of a library
    has a float by default; also through the constructors of other classes."""
    own = {argument.arg for argument in (*made.node.args.args, *made.node.args.kwonlyargs)}
    attributes = dict(_kept(made.node, own))
    found: set[str] = set()
    for node in nodes_in(owner.node, ast.Call):
        path = library_path(node.func, made)
        parameters = signature(path) if path else None
        names: list[str] = []
        floats: frozenset[str] = frozenset()
        cls = as_kind(made.globals.get(node.func.id), ClassValue) if isinstance(node.func, ast.Name) else None
        inner = as_kind(cls.slots.get("__init__"), Function) if cls is not None and cls is not owner else None
        if parameters is not None:
            names = [one.name for one in parameters]
            floats = frozenset(one.name for one in parameters if one.type == "float")
        elif inner is not None and cls is not None and depth < MAX_DEPTH:
            names = [argument.arg for argument in inner.node.args.args[1:]]
            floats = numbers(cls, inner, signature, depth + 1)
        for name, given in arguments(node, names).items():
            if name in floats:
                found.add(attributes.get(ast.unparse(given), ast.unparse(given)))
    return frozenset(found & own)


@dataclass(frozen=True)
class Behind:
    """Another constructor that gets the ``**kwargs`` of one. `names`: the parameters without a default that only these can tell."""

    owner: ClassValue
    function: Function
    names: tuple[str, ...]


def behind(owner: ClassValue, made: Function, depth: int = 0) -> list[Behind]:
    """The constructors to which one passes on all keyword arguments that it does not know itself, and what they need of these."""
    rest = made.node.args.kwarg
    found: list[Behind] = []
    own = {one.arg for one in (*made.node.args.args, *made.node.args.kwonlyargs)}
    for call in nodes_in(made.node, ast.Call) if rest is not None and depth < MAX_DEPTH else ():
        if rest is None or not any(word.arg is None and is_name(word.value, rest.arg) for word in call.keywords):
            continue
        inner = _constructor(call.func, owner, made)
        if inner is None or any(isinstance(one, ast.Starred) for one in call.args):
            continue
        cls, function = inner
        spec = function.node.args
        placed = [one.arg for one in by_position(spec)]
        told = (
            arguments(call, placed if _is_of_class(call.func) else placed[1:]).keys() | defaults_of(spec).keys() | own
        )
        names = [one for one in (*placed[1:], *(word.arg for word in spec.kwonlyargs)) if one not in told]
        found.append(Behind(cls, function, tuple(names)))
        own |= set(names)
        found += behind(cls, function, depth + 1)
    return found


def _is_of_class(callee: ast.expr) -> bool:
    """``Parent.__init__``, which is given the object, too."""
    return is_attribute(callee, "__init__") and isinstance(callee.value, ast.Name)


def _constructor(callee: ast.expr, owner: ClassValue, made: Function) -> tuple[ClassValue, Function] | None:
    """The constructor of the user's that an expression calls: of a class, or the parent's."""
    if is_attribute(callee, "__init__") and is_function_call(callee.value, "super"):
        order = of_kind(owner.mro(), ClassValue)
        own = next((place for place, one in enumerate(order) if one.slots.get("__init__") is made), len(order))
        of_parents = ((one, as_kind(one.slots.get("__init__"), Function)) for one in order[own + 1 :])
        return next(((one, function) for one, function in of_parents if function is not None), None)
    named = callee.value if is_attribute(callee, "__init__") else callee
    cls = as_kind(made.globals.get(named.id), ClassValue) if isinstance(named, ast.Name) else None
    function = as_kind(cls.slots.get("__init__"), Function) if cls is not None and cls is not owner else None
    return None if cls is None or function is None else (cls, function)


def defaults(owner: ClassValue, made: Function, depth: int = 0) -> dict[str, ast.expr]:
    """By the name of a parameter without a default what everything has for its default that the class passes it on to, as it is or as an
    attribute: no number, which each has of its own."""
    own = {argument.arg for argument in (*made.node.args.args, *made.node.args.kwonlyargs)}
    own -= defaults_of(made.node.args).keys()
    names = {name: name for name in own} | dict(_kept(made.node, own))
    found: dict[str, dict[str, ast.expr | None]] = {}
    # Its own methods may have variables of the same names.
    places = [node for node in owner.node.body if node is not made.node and made.name == "__init__"]
    for call in nodes_in(made.node, ast.Call) if own else ():
        for name, told in _told_by(call, owner, made, names, depth):
            found.setdefault(name, {})["" if told is None else ast.dump(told)] = told
    attributes = {written: name for written, name in names.items() if written != name}
    for call in (one for place in places for one in nodes_in(place, ast.Call)) if attributes else ():
        for name, told in _told_by(call, owner, made, attributes, depth):
            found.setdefault(name, {})["" if told is None else ast.dump(told)] = told
    single = {name: next(iter(told.values())) for name, told in found.items() if len(told) == 1}
    return {name: told for name, told in single.items() if told is not None}


def _told_by(
    call: ast.Call, owner: ClassValue, made: Function, names: dict[str, str], depth: int
) -> Iterator[tuple[str, ast.expr | None]]:
    """The parameters of a function that a call passes on, by what they are called there, and the defaults of what gets them; None for
    one that has none."""
    inner = _called(call.func, owner, made)
    if inner is None or not any(
        ast.unparse(one) in names for one in (*call.args, *(word.value for word in call.keywords))
    ):
        return
    cls, function, skip = inner
    usual = defaults_of(function.node.args)
    further: dict[str, ast.expr] | None = None
    for name, given in arguments(call, [one.arg for one in by_position(function.node.args)[skip:]]).items():
        passed_on = names.get(ast.unparse(given))
        if passed_on is None:
            continue
        if name not in usual and further is None:
            further = defaults(cls, function, depth + 1) if depth < MAX_DEPTH else {}
        told = usual.get(name) or (further or {}).get(name)
        yield passed_on, told if told is not None and _is_telling(told, made, function) else None


def _called(callee: ast.expr, owner: ClassValue, made: Function) -> tuple[ClassValue, Function, int] | None:
    """The function or class of the user's that an expression calls, and how many of its parameters the call does not tell: a constructor, or a method of the
    same object."""
    if is_dotted(callee, "self"):
        written = (one.slots.get(callee.attr) for one in of_kind(owner.mro(), ClassValue) if callee.attr in one.slots)
        method = as_kind(next(written, None), Function)
        return None if method is None else (owner, method, method.bound_parameters)
    inner = _constructor(callee, owner, made)
    return None if inner is None else (*inner, 0 if _is_of_class(callee) else 1)


def _is_telling(default: ast.expr, made: Function, inner: Function) -> bool:
    """Whether a default is no number, and means the same in the text of another constructor."""
    if isinstance(default, ast.Constant) and is_number(default.value):
        return False
    names = {node.id for node in nodes_in(default, ast.Name)}
    return all(made.globals.get(name) == inner.globals.get(name) for name in names)


def _kept(function: ast.AST, names: set[str]) -> Iterator[tuple[str, str]]:
    """The attributes that parameters are kept in."""
    for node in nodes_in(function, ast.Assign):
        if is_name(node.value, *names):
            for target in of_kind(node.targets, ast.Attribute):
                yield ast.unparse(target), node.value.id


def library_path(callee: ast.expr, function: Function) -> str:
    """The dotted name of what is called, where it is a library's; empty for anything else."""
    names: list[str] = []
    while isinstance(callee, ast.Attribute):
        names.insert(0, callee.attr)
        callee = callee.value
    owner = as_kind(function.globals.get(callee.id), Native) if isinstance(callee, ast.Name) else None
    return ".".join((owner.path, *names)) if owner is not None else ""


def sizes(operations: Iterable[Operation]) -> Iterator[Tensor]:
    """Tensors that are passed to an operator in the place of a size."""
    for operation in operations:
        name = operation.name
        if operation.module is None and name in _SIZED:
            for value in operation.args[0 if name in _MAKING else 1 :]:
                yield from _tensors(value)


def _tensors(value: Value) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    items = items_of(value)
    if items is not None:
        for item in items:
            yield from _tensors(item)


__all__ = ["Behind", "behind", "defaults", "library_path", "numbers", "sizes"]
