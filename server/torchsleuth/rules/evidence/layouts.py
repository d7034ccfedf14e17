"""Which dimension holds the samples, told by the layers and indexes around, where no loader tells it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.batch import follow
from torchsleuth.interp.trace import Operation
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import as_kind
from torchsleuth.values import LibraryModule, Tensor

_RANKS = {"1d": 3, "2d": 4, "3d": 5}
"""Ranks of what a layer of these dimensions gets, of which the first dimension holds the samples."""
_LAYERS = (
    "Conv",
    "BatchNorm",
    "MaxPool",
    "AvgPool",
    "AdaptiveAvgPool",
    "AdaptiveMaxPool",
    "ConvTranspose",
    "InstanceNorm",
)
_MAX_STEPS = 40
Path = tuple[tuple[Operation, Tensor], ...]
"""Operations that follow each other, with their results."""


def batch_by_layer(analysis: Analysis, tensor: Tensor) -> tuple[int, LibraryModule] | None:
    """The dimension of the samples in what was computed from the result of a convolution or of its like, and that layer."""
    for result, step, path in paths(analysis, tensor, _MAX_STEPS):
        if step.module is not None and _is_for_images(step.module, result):
            axis = followed(result, path)
            return None if axis is None else (axis, step.module)
    return None


def paths(analysis: Analysis, tensor: Tensor, most: int) -> Iterator[tuple[Tensor, Operation, Path]]:
    """The operations that a tensor was computed by, each with its result, and the path from there to the tensor."""
    pending: list[tuple[Tensor, Path]] = [(tensor, ())]
    seen: set[int] = set()
    for _ in range(most):
        if not pending:
            return
        result, path = pending.pop()
        origin = result.origin
        step = analysis.operation_of(origin)
        if origin is None or step is None or id(origin) in seen:
            continue
        seen.add(id(origin))
        yield result, step, path
        pending += [(source, ((step, result), *path)) for source in origin.sources]


def _is_for_images(module: LibraryModule, result: Tensor) -> bool:
    name, rank = module.type_name, result.spec.rank
    return name.startswith(_LAYERS) and rank is not None and _RANKS.get(name[-2:]) == rank


def followed(tensor: Tensor, path: Path) -> int | None:
    """Where the operations of a path leave dimension 0 of a tensor."""
    axis: int | None = 0
    for operation, result in path:
        before, shape = tensor.spec.shape, result.spec.shape
        if axis is None or before is None or shape is None:
            return None
        axis, tensor = follow(operation, axis, before, shape, 0), result
    return axis


def takes_last_of_second(operation: Operation, tensor: Tensor) -> bool:
    """``out[:, -1]``: the last one along dimension 1, for each one along dimension 0."""
    node = as_kind(operation.site.node, ast.Subscript)
    if not operation.target.endswith("getitem") or node is None or len(operation.args) != 2:
        return False
    if operation.args[0] is not tensor or not isinstance(node.slice, ast.Tuple) or not 2 <= len(node.slice.elts) <= 3:
        return False
    key = as_kind(operation.args[1], tuple)
    first, second, *rest = node.slice.elts
    return (
        key is not None
        and key[1:2] == (-1,)
        and not isinstance(second, ast.Slice)
        and all(isinstance(part, ast.Slice) and _is_whole(part) for part in (first, *rest))
    )


def _is_whole(part: ast.Slice) -> bool:
    return part.lower is None and part.upper is None and part.step is None
