"""Imports that a program can do without: what it does where a package is not there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import last_word

_LACKING = frozenset("ImportError ModuleNotFoundError Exception".split())


def imported(node: ast.stmt) -> Iterator[str]:
    """The modules that a statement imports by their full names."""
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(module=str(module), level=0):
            yield module


def fallback(node: ast.Try) -> ast.ExceptHandler | None:
    """The handler that binds something else for what an import under ``try`` would have bound; None where there is none."""
    bound = set(_bound(node.body))
    for handler in node.handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(kind is None or last_word(kind) in _LACKING for kind in kinds):
            return handler if bound & set(_bound(handler.body)) else None
    return None


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
            case ast.Assign():
                yield from (target.id for target in of_kind(node.targets, ast.Name))
            case ast.ClassDef() | ast.FunctionDef():
                yield node.name


__all__ = ["fallback", "imported"]
