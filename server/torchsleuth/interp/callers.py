"""The inputs that calls in sight pass to a function: what all of them say of the ranks, the sizes and the dtypes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchsleuth.interp.outcomes import Call, Part
from torchsleuth.sifting import only
from torchsleuth.syntax.forms import is_attribute, is_name
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size


def agreed(calls: Iterable[Call], function: ast.AST, names: Iterable[str]) -> dict[str, Part]:
    """By parameter the tensor that all calls of a function pass, as far as they say the same; those of another rank say nothing."""
    passed = [call.passed for call in calls if call.function is function]
    found: dict[str, Part] = {}
    for name in names:
        parts = [one[name] for one in passed if name in one]
        known = [part for part in parts if part.kind == "tensor" and part.shape is not None]
        if known and all(part.kind in ("tensor", "unknown") for part in parts):
            if len({len(part.shape or ()) for part in known}) == 1:
                found[name] = _joined(known)
    return found


def _joined(parts: list[Part]) -> Part:
    shapes = [part.shape or () for part in parts]
    dtypes = {part.dtype for part in parts}
    sizes = tuple(_same(column) for column in zip(*shapes))
    return Part("tensor", sizes, only(dtypes))


def _same(column: tuple[Size, ...]) -> Size:
    """1 where all pass that, otherwise a size that is called as the first is."""
    if set(column) == {1}:
        return 1
    return next((size for size in column if dims.symbol(size) is not None), column[0])


def names_class(tree: ast.AST, name: str) -> bool:
    """Whether a text uses something of this name."""
    return any(is_name(node, name) or is_attribute(node, name) for node in ast.walk(tree))


__all__ = ["agreed", "names_class"]
