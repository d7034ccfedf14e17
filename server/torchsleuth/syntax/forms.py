"""The forms of syntax that code asks for most: the parts of a tree that are of a class, and names, attributes and calls by what they name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeGuard, TypeVar, overload

A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)

if TYPE_CHECKING:
    # Seen by the type checker alone: what is known of the parts of a node of which one of the questions below is true.

    class MethodCall(ast.Call):
        func: ast.Attribute

    class FunctionCall(ast.Call):
        func: ast.Name

    class Member(ast.Attribute):
        value: ast.Name

    class Binding(ast.Assign):
        targets: list[ast.Name]  # type: ignore[assignment]

    class Text(ast.Constant):
        value: str


@overload
def nodes_in(tree: ast.AST, kind: type[A], /) -> Iterator[A]: ...
@overload
def nodes_in(tree: ast.AST, kind: type[A], other: type[B], /) -> Iterator[A | B]: ...
def nodes_in(tree: ast.AST, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    """The parts of a tree that are of one of these classes, itself included, in the order of `ast.walk`."""
    return (node for node in ast.walk(tree) if isinstance(node, kinds))


def contains(tree: ast.AST, *kinds: type[ast.AST]) -> bool:
    """Whether a tree, or one of its parts, is of one of these classes."""
    return any(isinstance(node, kinds) for node in ast.walk(tree))


def is_name(node: object, *names: object) -> TypeGuard[ast.Name]:
    """Whether this is one of these names."""
    return isinstance(node, ast.Name) and node.id in names


def last_sizes(node: ast.expr | None, count: int) -> ast.Subscript | None:
    """``x.shape[-count:]`` for another part of a shape, such as ``x.shape[1:]``; None where an expression is none."""
    part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and is_attribute(node.value, "shape")
    if not part or not isinstance(node, ast.Subscript):
        return None
    wanted = ast.Slice(ast.UnaryOp(ast.USub(), ast.Constant(count)))
    return ast.Subscript(node.value, wanted, node.ctx)


def is_attribute(node: object, *names: object) -> TypeGuard[ast.Attribute]:
    """``….name``"""
    return isinstance(node, ast.Attribute) and node.attr in names


def is_dotted(node: object, *owners: object) -> TypeGuard[Member]:
    """``owner.…``: an attribute of a plain name, of any one if none is given."""
    return (
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (not owners or node.value.id in owners)
    )


def is_function_call(node: object, *names: object) -> TypeGuard[FunctionCall]:
    """``name(…)``: a call of a plain name, of any one if none is given."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (not names or node.func.id in names)


def is_method_call(node: object, *names: object) -> TypeGuard[MethodCall]:
    """``….name(…)``: a call of an attribute, of any one if none is given."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (not names or node.func.attr in names)
    )


def is_plain_call(node: object) -> TypeGuard[ast.Call]:
    """A call of a name, dotted or not: what it calls is looked up, not computed."""
    return isinstance(node, ast.Call) and is_reference(node.func)


def is_reference(node: object) -> TypeGuard[ast.Name | ast.Attribute]:
    """A name, dotted or not."""
    return isinstance(node, ast.Name | ast.Attribute)


def is_primary(node: object) -> TypeGuard[ast.Name | ast.Attribute | ast.Call | ast.Subscript]:
    """An expression that binds tighter than any operator, so that it needs no parentheses: a name, an attribute, a call, an item."""
    return isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)


def is_place(node: object) -> TypeGuard[ast.Name | ast.Attribute | ast.Subscript]:
    """An expression that can be read and assigned to: a name, an attribute, an item."""
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def is_display(node: object) -> TypeGuard[ast.Tuple | ast.List]:
    """A tuple or a list whose items are written out, or are assigned to."""
    return isinstance(node, ast.Tuple | ast.List)


def is_definition(node: object) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    """``def name(…):``, or ``async def``."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def is_function(node: object, *names: str) -> TypeGuard[ast.FunctionDef]:
    """``def name(…):`` with one of these names."""
    return isinstance(node, ast.FunctionDef) and node.name in names


def is_binary(node: object, *operators: type[ast.operator]) -> TypeGuard[ast.BinOp]:
    """``left operator right``, by one of these operators."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, operators)


def is_unary(node: object, *operators: type[ast.unaryop]) -> TypeGuard[ast.UnaryOp]:
    """``operator operand``, such as ``-x``."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, operators)


def is_assignment(node: object) -> TypeGuard[ast.Assign]:
    """``target = value``: of one target, ``node.targets[0]``."""
    return isinstance(node, ast.Assign) and len(node.targets) == 1


def is_binding(node: object, *names: object) -> TypeGuard[Binding]:
    """``name = value``: an assignment to one of these names alone, to any one if none is given."""
    return is_assignment(node) and isinstance(node.targets[0], ast.Name) and (not names or node.targets[0].id in names)


def loads(node: object) -> bool:
    """Whether this is a name, an attribute, an item or a display that is read."""
    return isinstance(getattr(node, "ctx", None), ast.Load)


def stores(node: object) -> bool:
    """Whether this is a name, an attribute, an item or a display that is assigned to."""
    return isinstance(getattr(node, "ctx", None), ast.Store)


def is_constant(node: object, *kinds: type[object]) -> TypeGuard[ast.Constant]:
    """A constant of one of these types that is written out; a truth is a number, too."""
    return isinstance(node, ast.Constant) and isinstance(node.value, kinds)


def is_remark(node: object) -> bool:
    """Whether this is a constant that stands alone, which does nothing: a docstring, or ``...``."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_text(node: object) -> TypeGuard[Text]:
    """A text that is written out."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_literal(node: object, value: object) -> TypeGuard[ast.Constant]:
    """Whether this text, truth, None or ``...`` is written out."""
    return isinstance(node, ast.Constant) and node.value == value and type(node.value) is type(value)


def is_spread(parts: Iterable[ast.AST]) -> bool:
    """Whether there is a ``*more`` among these arguments or items, so that their number is not known."""
    return any(isinstance(part, ast.Starred) for part in parts)


def given_to(node: object) -> list[ast.expr]:
    """The arguments of a call as they are written, those with names last; none for everything else."""
    return [*node.args, *(part.value for part in node.keywords)] if isinstance(node, ast.Call) else []


def keyword_of(call: ast.Call, name: str) -> ast.keyword | None:
    """A keyword argument as it is written."""
    return next((part for part in call.keywords if part.arg == name), None)


def argument_of(call: ast.Call, position: int | None, *names: str) -> ast.expr | None:
    """An argument as it is written, by one of its names or by its position, if it has one; None where ``*more`` may hold it."""
    named = next((part.value for part in call.keywords if part.arg in names), None)
    if named is not None or position is None or not 0 <= position < len(call.args):
        return named
    return None if is_spread(call.args[: position + 1]) else call.args[position]


def plain_name(node: object) -> str | None:
    """The plain name that this is, None for everything else."""
    return node.id if isinstance(node, ast.Name) else None


def last_word(node: object) -> str:
    """The last word of a name, dotted or not: ``c`` of ``a.b.c``; empty for everything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def callee(node: object) -> ast.expr | None:
    """The function of a call; None for everything else."""
    return node.func if isinstance(node, ast.Call) else None


def called(node: object) -> str:
    """The last word of what a call calls; empty for everything else."""
    return last_word(node.func) if isinstance(node, ast.Call) else ""


def literal(node: object) -> object:
    """The value that is written out, None where none is."""
    return node.value if isinstance(node, ast.Constant) else None


def by_position(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters of a function that may be given by position."""
    return [*arguments.posonlyargs, *arguments.args]


def every_parameter(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters of a function that have a place or a name of their own, so without ``*more`` and ``**others``."""
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def defaults_of(arguments: ast.arguments) -> dict[str, ast.expr]:
    """The defaults of the parameters that have one, by name."""
    placed = by_position(arguments)
    found = dict(zip([one.arg for one in placed[len(placed) - len(arguments.defaults) :]], arguments.defaults))
    named = zip(arguments.kwonlyargs, arguments.kw_defaults)
    return found | {one.arg: value for one, value in named if value is not None}


def parts_of_tuple(node: ast.expr) -> list[ast.expr]:
    """The items of a tuple that is written out; all else is one itself."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def parts_of_key(node: object) -> list[ast.expr]:
    """The parts of the key of an item: ``a`` and ``b`` of ``x[a, b]``; none for everything else."""
    return parts_of_tuple(node.slice) if isinstance(node, ast.Subscript) else []


def targets_of(statement: ast.AST) -> list[ast.expr]:
    """The targets of an assignment of any kind, or of a loop: the expressions that it binds or changes."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    target = getattr(statement, "target", None)
    return [target] if isinstance(target, ast.expr) else []


def returned_by(function: ast.AST) -> list[ast.expr]:
    """The values of the return statements in a function, also of functions in it."""
    return [node.value for node in nodes_in(function, ast.Return) if node.value is not None]


def names_in(*trees: ast.AST) -> set[str]:
    """The plain names in these trees."""
    return {node.id for tree in trees for node in nodes_in(tree, ast.Name)}


def bindings_of(name: str, tree: ast.AST) -> list[ast.Name]:
    """Where a tree gives a plain name a value."""
    return [node for node in nodes_in(tree, ast.Name) if node.id == name and stores(node)]


def stored_in(*trees: ast.AST) -> set[str]:
    """The plain names that these trees bind, by an assignment or its like."""
    return {node.id for tree in trees for node in nodes_in(tree, ast.Name) if isinstance(node.ctx, ast.Store)}


def stands_on(node: ast.stmt | ast.expr, line: int) -> bool:
    """Whether a line is one of those that a node stands on, decorators left out."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def first_line(statement: ast.stmt) -> int:
    """The line that a statement begins on, with its decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def is_read(node: object) -> TypeGuard[ast.Attribute]:
    """Whether this is an attribute that is read."""
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)


def written_index(node: ast.expr) -> int | None:
    """The whole number that is written out, such as ``-1``."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, SyntaxError):
        return None
    return int(value) if type(value) is int else None


def assigned_pairs(statement: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets and values of an assignment, one by one where it is written so: ``self.n, self.dim = n, dim``."""
    for target in statement.targets:
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            if len(target.elts) == len(statement.value.elts):
                yield from zip(target.elts, statement.value.elts)
        else:
            yield target, statement.value
