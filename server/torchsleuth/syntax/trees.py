"""An index of one syntax tree: its nodes, what is around each, and which one stands at a place."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property, lru_cache
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
_KEPT = 32
"""Trees whose index is kept."""


class Index:
    """The nodes of a tree that does not change, in the order of `ast.walk`, without ``Load()``, ``Store()``, ``Del()``.

    `parents`: for each node but the root, the one it is part of.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.nodes: list[ast.AST] = [tree]
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:
            for name in node._fields:
                value = getattr(node, name, None)
                for inner in value if isinstance(value, list) else (value,):
                    if isinstance(inner, ast.AST) and not isinstance(inner, ast.expr_context):
                        self.nodes.append(inner)
                        self.parents[inner] = node

    @cached_property
    def _by_type(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return found

    @cached_property
    def _by_place(self) -> dict[Any, ast.AST]:
        return {_place(node): node for node in reversed(self.nodes) if hasattr(node, "lineno")}

    def of_type(self, kind: type[Node]) -> list[Node]:
        """The nodes of exactly this class."""
        return self._by_type.get(kind, [])  # type: ignore[return-value]

    def same(self, node: Node) -> Node | None:
        """The node of the same class at the same place, for a node of another parse of the same text."""
        return self._by_place.get(_place(node))  # type: ignore[return-value]

    def trail(self, node: ast.AST) -> list[ast.AST]:
        """The nodes from the root down to a node, both included; empty if it is not in the tree."""
        trail = [node]
        while trail[-1] in self.parents:
            trail.append(self.parents[trail[-1]])
        return trail[::-1] if trail[-1] is self.nodes[0] else []


def captured(node: ast.AST) -> str | None:
    """The name that an exception handler or a part of a pattern binds."""
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return node.name
    return node.rest if isinstance(node, ast.MatchMapping) else None


def _place(node: Any) -> tuple[Any, ...]:
    return type(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


@lru_cache(maxsize=_KEPT)
def index(tree: ast.AST) -> Index:
    """The index of a tree, made once."""
    return Index(tree)
