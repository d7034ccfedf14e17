"""Errors that a program expects: what fails under a ``try`` whose handler goes on without it is no mistake.

A handler expects an error of PyTorch's unless it takes other exceptions alone (``except KeyboardInterrupt:``), ends the program,
handles running out of memory, or stands around a training that it does not repeat: such an error undoes the training, and the
handler only hides it.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import NamedTuple

from torchsleuth.interp import exceptions
from torchsleuth.interp.interface import Interpreter
from torchsleuth.syntax.forms import called, contains, is_constant, is_definition, is_name, nodes_in
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
_KEPT = 16
"""Files of which it is known what their functions call."""


def expects_errors(interp: Interpreter, node: ast.Try, frame: Frame) -> bool:
    """Whether a handler takes errors of PyTorch's and the program goes on as it was meant to."""
    taking = [handler for handler in node.handlers if _takes(interp, handler, frame)]
    if interp.catching.levels and any(map(_translates, taking)):
        return True
    taking = [handler for handler in taking if not _fails(handler.body)]
    if not taking or all(map(_is_about_memory, taking)):
        return False
    calls = _calls_of(parse(frame.source))
    return not calls.trains(node) or any(map(calls.trains, taking))


def _takes(interp: Interpreter, handler: ast.ExceptHandler, frame: Frame) -> bool:
    kind = None if handler.type is None else interp.eval(handler.type, frame)
    return handler.type is None or any(exceptions.catches(kind, error) is not False for error in _ERRORS)


def _fails(body: list[ast.stmt]) -> bool:
    """Whether the program ends here, or what called this learns of the error."""
    last = body[-1]
    return isinstance(last, ast.Raise) or isinstance(last, ast.Expr) and called(last.value) in _EXITS


def _translates(handler: ast.ExceptHandler) -> bool:
    """``raise ConfigError(key) from error``: what is caught further out is another error, which may be expected there."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is not None and not is_name(last.exc, handler.name)


def _is_about_memory(handler: ast.ExceptHandler) -> bool:
    """``if "out of memory" in str(error): … else: raise``"""
    last = handler.body[-1]
    if not isinstance(last, ast.If) or not last.orelse or not _fails(last.orelse):
        return False
    return any(is_constant(part, str) and "memory" in str(part.value) for part in ast.walk(last.test))


class _Calls(NamedTuple):
    """The names that a piece of code calls, and whether it loops."""

    names: frozenset[str]
    loops: bool

    @staticmethod
    def of(body: list[ast.stmt]) -> _Calls:
        whole = ast.Module(body, [])
        names = frozenset(called(call) for call in nodes_in(whole, ast.Call))
        return _Calls(names, contains(whole, ast.For, ast.While))

    def __or__(self, other: _Calls) -> _Calls:
        return _Calls(self.names | other.names, self.loops or other.loops)


class _CallsOfFile:
    """The calls of each function of a file; what is asked about a ``try`` is asked each time that it is executed."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._of: dict[str, _Calls] = {}
        for definition in index(tree).nodes:
            if is_definition(definition):
                known = self._of.get(definition.name)
                calls = _Calls.of(definition.body)
                self._of[definition.name] = calls if known is None else known | calls
        self._trains: dict[ast.AST, bool] = {}

    def trains(self, part: ast.Try | ast.ExceptHandler) -> bool:
        """Whether the body of a ``try`` or of a handler, or the functions of the file that it calls, make several steps of a
        training."""
        if part not in self._trains:
            self._trains[part] = self._reaches_steps(part)
        return self._trains[part]

    def _reaches_steps(self, part: ast.Try | ast.ExceptHandler) -> bool:
        reached = _Calls.of(part.body)
        new = reached.names
        for _ in range(_DEPTH):
            found = [self._of[name] for name in new if name in self._of]
            before = reached.names
            for calls in found:
                reached |= calls
            new = reached.names - before
        around = index(self._tree).trail(part)
        several = reached.loops or any(isinstance(one, ast.For | ast.While) for one in around)
        return several and {"backward", "step"} <= reached.names


@lru_cache(maxsize=_KEPT)
def _calls_of(tree: ast.Module) -> _CallsOfFile:
    return _CallsOfFile(tree)


__all__ = ["expects_errors"]
