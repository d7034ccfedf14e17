"""Code that is not followed, since it does not parse right now, is left out, or is still to be written: what it mentions may be
anything then.
"""

from __future__ import annotations

import ast
import re

from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.trace import LOOP_METHODS
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.spec import Native
from torchsleuth.values import UNKNOWN, ClassValue, Function, Namespace, Slots, Value, is_unknown
from torchsleuth.values.frames import Frame

_WORD = re.compile(r"(\.\s*)?([^\W\d]\w*)")


def pass_over(interp: Interpreter, node: ast.Pass, frame: Frame) -> None:
    """Apply what a line may have done that was replaced by ``pass``: bind its names, and call its methods."""
    for dot, word in _WORD.findall(frame.source.line(node.lineno)):
        if dot and word in LOOP_METHODS:
            interp.event(word, UNKNOWN, node, frame)
        value = interp.lookup(word, frame)
        if not dot and not is_unknown(value):
            interp.escape((value,))
            if word in frame.names:
                interp.assign_name(word, UNKNOWN, frame)


def is_placeholder(value: object) -> bool:
    """Whether a value is the ``...`` that stands for one which is still to be written."""
    return value is ...


def to_be_written(node: ast.Expr, inside: ast.AST | None) -> bool:
    """Whether a statement is the ``...`` that stands for code which is still to be written. `inside`: the statement around it;
    where it is alone in a branch, a handler or a class, it is a ``pass``."""
    if isinstance(inside, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.With):
        return True
    parts = (getattr(inside, name, ()) for name in ("body", "orelse", "finalbody"))
    return not isinstance(inside, ast.ClassDef) and any(node in part and len(part) > 1 for part in parts)


def leave_open(interp: Interpreter, node: ast.Expr, frame: Frame) -> None:
    """Apply what may yet be written at a place: anything, with what is named there."""
    for word in LOOP_METHODS:
        interp.event(word, UNKNOWN, node, frame)
    held = (Function, ClassValue, Native, Namespace)
    values = {
        name: value for name, value in frame.names.items() if not name.startswith("__") and not isinstance(value, held)
    }
    given = tuple(values.values())
    interp.lose(given)
    interp.escape(given)
    interp.may_move(given)
    interp.may_fill(given)
    for name in values:
        interp.assign_name(name, UNKNOWN, frame)


def leave_out(interp: Interpreter, node: ast.stmt, bound: frozenset[str], frame: Frame) -> None:
    """Apply what a statement may have done that is left out. `bound`: the names that it binds."""
    words = _WORD.findall(frame.source.segment(node))
    _touch(interp, words, (frame.names, *frame.scopes, frame.globals), (), node, frame)
    for name in bound:
        interp.assign_name(name, UNKNOWN, frame)


def leave_out_call(
    interp: Interpreter, function: Function, source: SourceText, given: tuple[Value, ...], frame: Frame
) -> None:
    """Apply what a call may have done of a function that is left out. `given`: its arguments; `frame`: of the caller."""
    words = _WORD.findall(source.segment(function.node))
    scopes = (*function.closure, function.globals)
    _touch(interp, words, scopes, given, function.node, frame)
    for part in ast.walk(function.node):
        for name in part.names if isinstance(part, ast.Global | ast.Nonlocal) else ():
            for scope in scopes:
                if name in scope:
                    interp.heap.set(scope, name, UNKNOWN)


def _touch(
    interp: Interpreter,
    words: list[tuple[str, str]],
    scopes: tuple[Slots, ...],
    given: tuple[Value, ...],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Objects that code mentions may have been changed by it, and methods that matter have been called."""
    for word in dict.fromkeys(word for dot, word in words if dot and word in LOOP_METHODS):
        interp.event(word, UNKNOWN, node, frame)
    for word in dict.fromkeys(word for dot, word in words if not dot):
        scope = next((scope for scope in scopes if word in scope), None)
        if scope is not None and not isinstance(scope[word], Function | ClassValue | Native | Namespace):
            given += (scope[word],)
    interp.lose(given)
    interp.escape(given)
    interp.may_move(given)
    interp.may_fill(given)
