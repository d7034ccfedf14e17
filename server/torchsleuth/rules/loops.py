"""What the loop rules share: which optimizer a step belongs to, which modules it trains, where statements are."""

from __future__ import annotations

import ast

from torchsleuth.interp.library.modules import descendants
from torchsleuth.interp.trace import Event, LoopPoint
from torchsleuth.interp.values import (
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Site,
    Value,
)
from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax import edits


def modules_of(optimizer: LibraryObject) -> list[Value]:
    """The modules whose parameters an optimizer was given, as far as they are known."""
    given = optimizer.argument(0, "params")
    parts = given.items or () if isinstance(given, ListValue) else (given,)
    found: list[Value] = []
    for part in parts:
        if isinstance(part, Parameters):
            found.extend(part.modules)
    return found


def trained_by(optimizer: LibraryObject, module: Value) -> bool:
    """Whether the module is one that the optimizer was given, or inside one, or contains one."""
    if not isinstance(module, LibraryModule | Instance):
        return False
    for trained in modules_of(optimizer):
        if any(part is module for part in descendants(trained)) or any(part is trained for part in descendants(module)):
            return True
    return False


def innermost(event: Event) -> LoopPoint | None:
    return event.loops[-1] if event.loops else None


def statement_of(analysis: Analysis, site: Site) -> ast.stmt | None:
    """The statement in the rule's tree that holds a recorded expression."""
    tree = analysis.tree(site.span.path)
    line, column = getattr(site.node, "lineno", 0), getattr(site.node, "col_offset", 0)
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) <= (line, column):
            if (line, column) <= (node.end_lineno or 0, node.end_col_offset or 0):
                if best is None or (node.lineno, node.col_offset) >= (best.lineno, best.col_offset):
                    best = node
    return best


def loop_statement(analysis: Analysis, point: LoopPoint) -> ast.stmt | None:
    tree = analysis.tree(point.span.path)
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While) and (node.lineno, node.col_offset) == (
            point.node.lineno,
            point.node.col_offset,
        ):
            return node
    return None


def receiver_text(analysis: Analysis, site: Site) -> str | None:
    """The expression before the dot of a method call: ``optimizer`` in ``optimizer.step()``."""
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return analysis.source_of(site.span.path).segment(node.func.value)
    return None


def is_simple(statement: ast.stmt, analysis: Analysis, path: str) -> bool:
    """Whether the statement has its first line to itself, so that a line can be put before it."""
    source = analysis.source_of(path)
    before = source.line(statement.lineno)[: source.start_of(statement).column - 1]
    return not before.strip()


__all__ = [
    "edits",
    "innermost",
    "is_simple",
    "loop_statement",
    "modules_of",
    "receiver_text",
    "statement_of",
    "trained_by",
]
