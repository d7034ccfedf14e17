"""Remembers where each module was constructed: the exact characters of ``nn.Linear(10, h)``, also in a Sequential."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

Span = tuple[int, int, int, int]


def position(frame: FrameType) -> Span | None:
    """Line and UTF-8 column span of the expression a frame is executing; None before Python 3.11."""
    return code_position(frame.f_code, frame.f_lasti)


def code_position(code: CodeType, instruction: int) -> Span | None:
    if not hasattr(code, "co_positions"):
        return None
    for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if index * 2 == instruction:
            if None in (line, end_line, column, end_column):
                return None
            return (line, column, end_line, end_column)  # type: ignore[return-value]
    return None


class ConstructorRegistry:
    """Filled by a patch of nn.Module.__init__; asked after a crash."""

    def __init__(self, is_user_file: Callable[[str], bool]) -> None:
        self._is_user_file = is_user_file
        self._sites: weakref.WeakKeyDictionary[Any, list[dict[str, Any]]] = weakref.WeakKeyDictionary()

    def install(self, module_class: Any) -> None:
        original = module_class.__init__
        remember = self._remember

        @functools.wraps(original)
        def __init__(module: Any, *args: Any, **kwargs: Any) -> None:
            original(module, *args, **kwargs)
            remember(module, sys._getframe(1))

        module_class.__init__ = __init__

    def _remember(self, module: Any, frame: FrameType | None) -> None:
        """The user frames around the construction, innermost first, skipping the module's own constructors."""
        chain: list[dict[str, Any]] = []
        while frame is not None and len(chain) < 6:
            own = frame.f_code.co_name == "__init__" and next(iter(frame.f_locals.values()), None) is module
            if not own and self._is_user_file(frame.f_code.co_filename):
                span = position(frame)
                chain.append({"path": frame.f_code.co_filename, "line": frame.f_lineno, "span": span})
            frame = frame.f_back
        if chain:
            try:
                self._sites[module] = chain
            except TypeError:
                return

    def constructor(self, module: Any) -> dict[str, Any] | None:
        """Span of the constructor call and of each argument as written, with the calls around it."""
        try:
            chain = self._sites.get(module)
        except TypeError:
            return None
        if not chain:
            return None
        first = chain[0]
        call = find_call(first["path"], first["span"], first["line"], type(module).__name__)
        if call is None:
            return {**first, "arguments": [], "callers": chain[1:]}
        return {
            "path": first["path"],
            "line": call.lineno,
            "span": _span(call),
            "arguments": arguments(call),
            "callers": [_caller(entry) for entry in chain[1:]],
            "parameters": _parameters(first["path"], call),
        }


def _caller(entry: dict[str, Any]) -> dict[str, Any]:
    call = find_call(entry["path"], entry["span"], entry["line"], None)
    return {**entry, "arguments": arguments(call) if call is not None else []}


def _parameters(path: str, call: ast.Call) -> list[str]:
    """Parameter names of the function that encloses a call."""
    found: list[str] = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.FunctionDef) and node.lineno <= call.lineno <= (node.end_lineno or 0):
            found = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return found[1:] if found[:1] == ["self"] else found


def _span(node: Any) -> Span:
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def arguments(call: ast.Call) -> list[dict[str, Any]]:
    """Name (or None), position, text and span of every argument."""
    found = [
        {"name": None, "position": index, "text": ast.unparse(node), "span": _span(node)}
        for index, node in enumerate(call.args)
        if not isinstance(node, ast.Starred)
    ]
    found += [
        {"name": keyword.arg, "position": None, "text": ast.unparse(keyword.value), "span": _span(keyword.value)}
        for keyword in call.keywords
        if keyword.arg
    ]
    return found


@functools.lru_cache(maxsize=64)
def _tree(path: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def find_call(path: str, span: Span | None, line: int, name: str | None) -> ast.Call | None:
    """The call at a span; without one (Python 3.10), the call of that name on the line."""
    best: ast.Call | None = None
    for node in ast.walk(_tree(path)):
        if not isinstance(node, ast.Call):
            continue
        if span is not None:
            if _span(node) == tuple(span):
                return node
        elif node.lineno <= line <= (node.end_lineno or node.lineno):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if name is None or called == name:
                best = node if best is None or node.lineno >= best.lineno else best
    return best
