"""Errors that a program expects: what fails under a ``try`` whose handler goes on without it is no mistake.

A handler expects an error of PyTorch's unless it takes other exceptions alone (``except KeyboardInterrupt:``), ends the program,
handles running out of memory, or stands around a training that it does not repeat: such an error undoes the training, and the
handler only hides it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchsleuth.interp import exceptions
from torchsleuth.interp.interface import Interpreter
from torchsleuth.syntax.forms import called, contains, is_constant, is_definition, nodes_in
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.trees import index
from torchsleuth.values.frames import Frame

_ERRORS = tuple(
    exceptions.made(f"builtins.{name}", ())
    for name in (
        "RuntimeError TypeError ValueError IndexError KeyError AttributeError AssertionError NotImplementedError "
        "ImportError".split()
    )
)
"""The errors that operators, modules and imports raise."""
_EXITS = frozenset({"exit", "_exit", "quit", "abort"})
_DEPTH = 3
"""Functions of the file that are followed from a ``try``."""


def expects_errors(interp: Interpreter, node: ast.Try, frame: Frame) -> bool:
    """Whether a handler takes errors of PyTorch's and the program goes on as it was meant to."""
    taking = [handler for handler in node.handlers if _takes(interp, handler, frame) and not _fails(handler.body)]
    if not taking or all(map(_is_about_memory, taking)):
        return False
    return not _trains(node.body, node, frame) or any(_trains(handler.body, node, frame) for handler in taking)


def _takes(interp: Interpreter, handler: ast.ExceptHandler, frame: Frame) -> bool:
    kind = None if handler.type is None else interp.eval(handler.type, frame)
    return handler.type is None or any(exceptions.catches(kind, error) is not False for error in _ERRORS)


def _fails(body: list[ast.stmt]) -> bool:
    """Whether the program ends here, or what called this learns of the error."""
    last = body[-1]
    return isinstance(last, ast.Raise) or isinstance(last, ast.Expr) and called(last.value) in _EXITS


def _is_about_memory(handler: ast.ExceptHandler) -> bool:
    """``if "out of memory" in str(error): … else: raise``"""
    last = handler.body[-1]
    if not isinstance(last, ast.If) or not last.orelse or not _fails(last.orelse):
        return False
    return any(is_constant(part, str) and "memory" in str(part.value) for part in ast.walk(last.test))


def _trains(body: list[ast.stmt], around: ast.Try, frame: Frame) -> bool:
    """Whether statements, or those of the functions of the file that they call, make several steps of a training."""
    tree = index(parse(frame.source))
    reached = list(_reached(body, tree.nodes[0], _DEPTH))
    calls = {called(call) for part in reached for call in nodes_in(part, ast.Call)}
    several = contains(ast.Module(reached, []), ast.For, ast.While) or any(
        isinstance(one, ast.For | ast.While) for one in tree.trail(around)
    )
    return several and {"backward", "step"} <= calls


def _reached(body: Iterable[ast.stmt], tree: ast.AST, depth: int) -> Iterator[ast.stmt]:
    """Statements, and the bodies of the functions of a file whose names they call."""
    statements = list(body)
    yield from statements
    names = {called(call) for part in statements for call in nodes_in(part, ast.Call)}
    if depth and names:
        for definition in index(tree).nodes:
            if is_definition(definition) and definition.name in names:
                yield from _reached(definition.body, tree, depth - 1)


__all__ = ["expects_errors"]
