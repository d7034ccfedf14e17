"""Two tensors that are computed alike, one statement after the other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchsleuth.rules.evidence.loops import blocks_of, statement_of
from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax.forms import called, is_binding, nodes_in
from torchsleuth.values import Site, Tensor

if TYPE_CHECKING:
    from torchsleuth.syntax.forms import Binding

_RANDOM = ("rand", "choice", "sample", "drop", "next", "pop")
"""Parts of the names of functions that give something else each time."""


def computed_alike(analysis: Analysis, one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are one, or are computed alike in two statements that follow one another."""
    if one.is_one_with(other):
        return True
    return bound_alike(analysis, one, other) is not None


def bound_alike(analysis: Analysis, one: Tensor, other: Tensor) -> tuple[Binding, Binding] | None:
    """The two statements that give two tensors their names, by the same expression, one after the other."""
    if one.origin is None or other.origin is None:
        return None
    first, second = (_bound(analysis, origin.site) for origin in (one.origin, other.origin))
    if first is None or second is None or first is second or ast.dump(first.value) != ast.dump(second.value):
        return None
    if any(word in called(call) for call in nodes_in(first, ast.Call) for word in _RANDOM):
        return None
    blocks = (block for block in blocks_of(analysis.tree(one.origin.site.span.path)) if first in block)
    near = any(abs(block.index(first) - block.index(second)) == 1 for block in blocks if second in block)
    return (first, second) if near else None


def _bound(analysis: Analysis, site: Site) -> Binding | None:
    """``x = …``, where an expression is all that is bound."""
    statement = statement_of(analysis, site)
    whole = is_binding(statement) and site.source.span(statement.value) == site.span
    return statement if whole and is_binding(statement) else None
