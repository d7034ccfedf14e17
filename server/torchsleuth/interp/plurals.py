"""Parameters that are several integers or several tensors, as what a function does with them tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.calls import arguments
from torchsleuth.syntax.forms import by_position, is_attribute, is_dotted, is_name, loads, nodes_in, plain_name

FEW = 2
"""Elements of a sequence of which nothing tells how many it has."""
MOST = 8
_INTEGERS = re.compile(r"(typing\.)?(list|tuple|sequence|iterable)\[(int|int, \.\.\.)\]", re.IGNORECASE)
_SO_MANY = re.compile(r"(typing\.)?tuple\[int(, int)+\]", re.IGNORECASE)
_TENSORS = re.compile(r"(typing\.)?(list|tuple|sequence|iterable)\[([\w., ]*tensor[\w., ]*)\]", re.IGNORECASE)
_OPTIONAL = re.compile(r"(?:typing\.)?Optional\[(.*)\]")
_JOINING = frozenset("cat concat stack hstack vstack".split())
_OVER = frozenset("enumerate zip reversed".split())
_KEEPING = frozenset("append extend insert ModuleList Sequential add_module list tuple isinstance print".split())
"""Functions to which nobody has to give an integer."""


@dataclass(frozen=True)
class Sequence:
    """`names`: of the elements, empty for those that nothing names. `is_tuple`: code asks for a tuple, or unpacks it."""

    names: tuple[str, ...]
    is_tuple: bool = False

    def paths(self, name: str) -> tuple[str, ...]:
        """The elements as they are told, for the parameter of this name."""
        return tuple(f"{name}[{index}]" for index in range(len(self.names)))


@dataclass
class _Uses:
    """The uses of a parameter in a function. `elements`: variables that are its elements, one after the other."""

    unpacked: tuple[str, ...] = ()
    least: int = 0
    elements: set[str] = field(default_factory=set)
    over: bool = False
    joined: bool = False
    counted: bool = False
    is_tuple: bool = False
    other: bool = False

    @property
    def count(self) -> int:
        return len(self.unpacked) or min(max(self.least, FEW), MOST)

    def sequence(self) -> Sequence:
        return Sequence(self.unpacked or ("",) * self.count, self.is_tuple or bool(self.unpacked))


def integers(
    function: ast.AST, parameter: ast.arg, likely: bool = False, owner: ast.ClassDef | None = None
) -> Sequence | None:
    """The elements of a parameter that is several integers; None where nothing tells that it is. `likely`: it is called as
    several sizes are, so that to unpack it is enough. `owner`: the class whose constructor this is; its other methods may unpack
    an attribute that keeps the parameter."""
    uses = _uses(function, parameter.arg)
    if owner is not None and not uses.other and not uses.unpacked:
        uses.unpacked = _unpacked_later(function, parameter.arg, owner)
    if likely and uses.unpacked:
        return uses.sequence()
    if parameter.annotation is not None:
        annotation = ast.unparse(parameter.annotation)
        if _SO_MANY.fullmatch(annotation):
            count = annotation.count("int")
            return Sequence(uses.unpacked if len(uses.unpacked) == count else ("",) * count, True)
        return uses.sequence() if _INTEGERS.fullmatch(annotation) else None
    if uses.other or uses.joined or not (uses.unpacked or uses.least or uses.elements or uses.counted):
        return None
    return uses.sequence() if uses.unpacked or _as_integers(function, parameter.arg, uses) else None


def tensors(function: ast.AST, parameter: ast.arg, rest: bool = False) -> Sequence | None:
    """The elements of a parameter that is several tensors; None where nothing tells that it is. `rest`: it gets all other
    arguments, so that to pass it on says nothing."""
    uses = _uses(function, parameter.arg)
    if rest and not (uses.joined or uses.unpacked or uses.least or uses.elements):
        return None
    if parameter.annotation is not None:
        written = _TENSORS.fullmatch(_without_none(ast.unparse(parameter.annotation).strip("'\"")))
        count = written[3].lower().count("tensor") if written and "tuple" in written[2].lower() else 0
        if written and count > 1 and not uses.unpacked:
            return Sequence(("",) * count)
        return uses.sequence() if written else None
    several = uses.joined or uses.over or uses.unpacked or uses.least > 1 or _are_inputs(function, uses.elements)
    return uses.sequence() if several and not uses.other else None


def _without_none(annotation: str) -> str:
    """``T`` of ``T | None`` and ``Optional[T]``."""
    optional = _OPTIONAL.fullmatch(annotation)
    return optional[1] if optional else annotation.removesuffix(" | None")


def _are_inputs(function: ast.AST, elements: set[str]) -> bool:
    """Whether the elements are passed to what the object holds, one after the other: ``self.conv(features)``."""
    return any(
        is_dotted(node.func, "self") and bool(node.args) and is_name(node.args[0], *elements)
        for node in (nodes_in(function, ast.Call) if elements else ())
    )


def is_object(owner: ast.ClassDef, made: ast.AST, name: str) -> bool:
    """Whether a parameter of a constructor is something that is called, or gone through as several things are."""
    uses = _uses(made, name)
    return is_called(owner, made, name) or bool(uses.unpacked or uses.least or uses.elements or uses.over)


def _uses(function: ast.AST, name: str) -> _Uses:
    uses = _Uses()
    known: set[ast.AST] = set()
    for node in ast.walk(function):
        for part in _looked_at(node, name, uses):
            known.add(part)
    for node in ast.walk(function):
        if is_name(node, name) and loads(node) and node not in known:
            uses.other = True
    return uses


def _unpacked_later(made: ast.AST, name: str, owner: ast.ClassDef) -> tuple[str, ...]:
    """The variables that a method unpacks an attribute into which keeps a parameter: ``H, W = self.resolution``. None of them is
    called, or asked for an attribute."""
    kept = _kept_in(made, name)
    for method in of_kind(owner.body, ast.FunctionDef):
        for node in nodes_in(method, ast.Assign) if kept else ():
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Attribute(attr=attribute)) if (
                    attribute in kept
                ):
                    labels = tuple(map(_label, targets))
                    if all(labels) and not any(_is_object(method, label) for label in labels):
                        return labels
    return ()


def _kept_in(made: ast.AST, name: str) -> set[str]:
    """The attributes that a parameter is kept in as it is."""
    return {
        target.attr
        for node in nodes_in(made, ast.Assign)
        if is_name(node.value, name)
        for target in of_kind(node.targets, ast.Attribute)
    }


def is_called(owner: ast.ClassDef, made: ast.AST, name: str) -> bool:
    """Whether a class calls a parameter of its constructor, or an attribute that keeps it: it is a module, a class or a function."""
    kept = _kept_in(made, name)
    calls = [node.func for node in nodes_in(owner, ast.Call)]
    called = any(is_name(node.func, name) for node in nodes_in(made, ast.Call))
    if called or (bool(kept) and any(is_attribute(func, *kept) for func in calls)):
        return True
    methods = {method.name: method for method in of_kind(owner.body, ast.FunctionDef) if method is not made}
    return any(
        is_name(part.func, argument)
        for method, argument in _passed_to(made, name, methods)
        for part in nodes_in(method, ast.Call)
    )


def _passed_to(
    made: ast.AST, name: str, methods: Mapping[str, ast.FunctionDef]
) -> Iterator[tuple[ast.FunctionDef, str]]:
    """The methods that a parameter is passed on to as it is, and what it is called there."""
    for call in nodes_in(made, ast.Call):
        method = methods.get(call.func.attr) if is_dotted(call.func) else None
        if method is not None:
            skip = not any(is_name(one, "staticmethod") for one in method.decorator_list)
            given = arguments(call, [one.arg for one in by_position(method.args)[skip:]])
            yield from ((method, argument) for argument, value in given.items() if is_name(value, name))


def is_replaced(owner: ast.ClassDef, made: ast.AST, name: str) -> bool:
    """Whether a class looks whether a parameter of its constructor is there, or an attribute that keeps it: it has something else
    for None, or does without."""
    kept = _kept_in(made, name)
    by_name = any(part.id == name for test in _tests(made) for part in nodes_in(test, ast.Name))
    return by_name or any(is_attribute(part, *kept) for test in _tests(owner) for part in ast.walk(test) if kept)


def _tests(root: ast.AST) -> list[ast.expr]:
    """The questions by which code chooses what it does."""
    tests = [node.test for node in nodes_in(root, ast.If, ast.IfExp)]
    return tests + [one for node in nodes_in(root, ast.BoolOp) for one in node.values[:-1]]


def _is_object(method: ast.AST, name: str) -> bool:
    called = any(is_name(node.func, name) for node in nodes_in(method, ast.Call))
    return called or any(is_name(node.value, name) for node in nodes_in(method, ast.Attribute))


def _looked_at(node: ast.AST, name: str, uses: _Uses) -> Iterator[ast.AST]:
    """The mentions of a name in what a sequence may be used for, noted."""

    def is_it(part: ast.AST | None) -> bool:
        return is_name(part, name)

    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value) if is_it(value):
            labels = tuple(_label(target) for target in targets)
            if all(labels):
                uses.unpacked = uses.unpacked or labels
                yield value
        case ast.Assign(targets=[ast.Attribute()], value=value) if is_it(value):
            yield value
        case ast.Subscript(value=value, slice=ast.Constant(value=int(index))) if is_it(value):
            uses.least = max(uses.least, index + 1)
            yield value
        case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index)))):
            if is_it(value):
                uses.least = max(uses.least, index)
                yield value
        case ast.Subscript(value=value, slice=ast.Slice() | ast.Name() | ast.BinOp()) if is_it(value):
            uses.counted = True
            yield value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value) if is_it(value):
            uses.elements.update(part.id for part in nodes_in(target, ast.Name))
            yield value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value) if any(
            map(is_it, over := list(_gone_over(value)))
        ):
            uses.over = True
            uses.elements.update(part.id for part in nodes_in(target, ast.Name))
            yield from filter(is_it, over)
        case ast.Call(func=ast.Name(id="len" | "reversed" | "sorted" | "list" | "tuple"), args=[value]) if is_it(value):
            uses.counted = True
            yield value
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, kinds]) if is_it(value) and _are_sequences(kinds):
            uses.counted, uses.is_tuple = True, uses.is_tuple or is_name(kinds, "tuple")
            yield value
        case ast.Call(func=func, args=[value, *_]) if _is_joining(func) and is_it(value):
            uses.joined = True
            yield value
        case ast.Starred(value=value) if is_it(value):
            uses.over = True
            yield value


def _gone_over(node: ast.expr) -> Iterator[ast.expr]:
    """The sequences that ``zip``, ``enumerate`` and ``reversed`` go over, also inside of one another."""
    if isinstance(node, ast.Call) and plain_name(node.func) in _OVER:
        for part in node.args:
            yield part
            yield from _gone_over(part)


def _are_sequences(kinds: ast.expr) -> bool:
    """``tuple``, ``(list, tuple)``: what an integer is none of."""
    parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return all(is_name(part, "list", "tuple") for part in parts)


def _is_joining(func: ast.expr) -> bool:
    """``torch.cat``, ``cat``; not ``self.stack``, which is the object's own."""
    return _label(func) in _JOINING and not (isinstance(func, ast.Attribute) and is_name(func.value, "self"))


def _label(target: ast.AST) -> str:
    return target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""


def _as_integers(function: ast.AST, name: str, uses: _Uses) -> bool:
    """Whether elements are computed with, or passed to what takes a number; none is called, or asked for an attribute."""

    def is_element(part: ast.AST) -> bool:
        match part:
            case ast.IfExp():
                return is_element(part.body) or is_element(part.orelse)
            case ast.Subscript():
                return is_name(part.value, name)
        return plain_name(part) in uses.elements

    for statement in nodes_in(function, ast.Assign):
        if isinstance(statement.targets[0], ast.Name) and is_element(statement.value):
            uses.elements.add(statement.targets[0].id)
    computed = False
    for node in ast.walk(function):
        match node:
            case ast.Call(func=called) if is_element(called):
                return False
            case ast.Attribute(value=value) if is_element(value):
                return False
            case ast.Call(args=args, keywords=keywords) if _label(node.func) not in _KEEPING:
                computed = computed or any(is_element(one) for one in (*args, *(word.value for word in keywords)))
            case ast.BinOp(left=left, right=right):
                computed = computed or is_element(left) or is_element(right)
    return computed


__all__ = ["FEW", "Sequence", "integers", "is_called", "is_object", "tensors"]
