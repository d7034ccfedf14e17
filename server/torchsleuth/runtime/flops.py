"""The floating-point operations of a forward pass, counted from its autograd graph as ``torch.utils.flop_counter`` counts them:
two for each multiplication with an addition, of products of matrices, convolutions and attention.

What has no gradient leaves no function there, and is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torchsleuth.runtime import graphs
from torchsleuth.runtime.graphs import Graph, Node

Shape = tuple[int, ...]


def _kept(node: Node, name: str) -> Shape:
    """The shape of an operand that a function keeps, or only its shape; empty where it does neither."""
    sizes = getattr(node.function, f"_saved_{name}_sym_sizes", None)
    value = None if sizes is not None else graphs.saved(node, name)
    found = sizes if sizes is not None else () if value is None else value.shape
    return tuple(int(size) for size in found)


def _product(first: str, second: str) -> Callable[[Node, Shape], int]:
    """Of a product of matrices: ``(…, n, k) @ (…, k, m)``."""

    def count(node: Node, made: Shape) -> int:
        inner = (_kept(node, first)[-1:] or _kept(node, second)[-2:-1] or (0,))[0]
        return 2 * math.prod(made) * inner

    return count


def _convolution(node: Node, made: Shape) -> int:
    given, weight = _kept(node, "input"), _kept(node, "weight")
    moved = given if getattr(node.function, "_saved_transposed", False) else made
    return 2 * made[0] * math.prod(moved[2:]) * math.prod(weight) if given and weight else 0


def _attention(node: Node, made: Shape) -> int:
    query, key, value = (_kept(node, name) for name in ("query", "key", "value"))
    if not (query and key and value):
        return 0
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


_FORMS: dict[str, Callable[[Node, Shape], int]] = {
    "AddmmBackward0": _product("mat1", "mat2"),
    "MmBackward0": _product("self", "mat2"),
    "BmmBackward0": _product("self", "mat2"),
    "BaddbmmBackward0": _product("batch1", "batch2"),
    "ConvolutionBackward0": _convolution,
}


def of(node: Node) -> int:
    """The operations of a function; 0 for one that only moves, adds or compares."""
    form = _attention if node.name.startswith("ScaledDotProduct") else _FORMS.get(node.name)
    made = graphs.made_shape(node) if form is not None else None
    return form(node, made) if form is not None and made else 0


def by_layer(graph: Graph, owner: Callable[[int], Any]) -> dict[Any, int]:
    """The operations of a graph by what `owner` gives for the identity of a weight. A product without a weight belongs to what the
    layer before it is part of: attention to its module."""
    found: dict[Any, int] = {}
    last: Any = None
    for node in reversed(graph.nodes):
        count = of(node)
        if not count:
            continue
        weight = graph.weight_of(node)
        own = None if weight is None else owner(id(weight))
        last = last if own is None else own
        whose = own if own is not None else getattr(last, "inside", None) or last
        if whose is not None:
            found[whose] = found.get(whose, 0) + count
    return found
