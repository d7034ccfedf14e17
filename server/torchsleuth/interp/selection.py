"""Selections by boolean masks: as many elements as the mask has ones, the same for all that one mask selects from."""

from __future__ import annotations

import ast
from typing import TypeGuard

from torchsleuth.interp.interface import Interpreter
from torchsleuth.syntax.forms import is_reference
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import UNKNOWN, Bounds, Ends, Origin, Scalar, Tensor, Value, is_unknown, tuple_of
from torchsleuth.values.frames import Frame

COUNTS = {
    **dict.fromkeys("nonzero argwhere where masked_select".split(), "nnz"),
    **dict.fromkeys("unique unique_consecutive".split(), "unique"),
    **dict.fromkeys(("bincount", "one_hot"), "classes"),
}
"""The names of sizes that operators take from their operands' values."""
LONGEST_NAME = 20


def is_mask(value: Value) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.spec.dtype in ("bool", "uint8") and value.spec.rank != 0


def item(interp: Interpreter, container: Tensor, key: Value, node: ast.AST, frame: Frame) -> Value:
    """``x[mask]``, and masks beside other indices: what their positions would select. None where there is no mask."""
    parts = tuple_of(key)
    if not any(map(is_mask, parts)):
        return None
    written = node.slice if isinstance(node, ast.Subscript) else None
    nodes = (
        written.elts if isinstance(written, ast.Tuple) and len(written.elts) == len(parts) else [written] * len(parts)
    )
    places: list[Value] = []
    for part, place in zip(parts, nodes):
        if not is_mask(part):
            places.append(part)
            continue
        shape = interp.resolved_spec(part.spec).shape
        if shape is None:
            return UNKNOWN
        index = TensorSpec((count(interp, part, place),), "int64", part.spec.device, False)
        places += [Tensor(index, Origin(interp.site(node, frame), "torch.nonzero", sources=(part,))) for _ in shape]
    if any(is_unknown(part) or isinstance(part, Scalar) for part in places) or _misfits(interp, container, parts):
        return interp.operate("operator.getitem", (container, key), {}, node, frame)
    picked = interp.operate("operator.getitem", (container, tuple(places)), {}, node, frame)
    if isinstance(picked, Tensor):
        # A mask may depend on the values: any of them may be what it leaves out.
        kept = frozenset(tag for tag in picked.tags if not isinstance(tag, Bounds | Ends))
        interp.heap.set(picked.slots, "tags", kept)
    return picked


def _misfits(interp: Interpreter, container: Tensor, parts: tuple[Value, ...]) -> bool:
    """Whether the first of the indices is a mask of another shape than what it selects from."""
    mask = interp.resolved_spec(parts[0].spec).shape if is_mask(parts[0]) else None
    shape = interp.resolved_spec(container.spec).shape
    if not mask or shape is None:
        return False
    return len(mask) > len(shape) or any(dims.equal(a, b) is False for a, b in zip(mask, shape))


def count(interp: Interpreter, mask: Tensor, node: ast.AST | None) -> Size:
    """How many ones there are in a mask, as long as it is not written to."""
    version = mask.storage.slots.get("version", 0)
    known = mask.slots.get("count")
    if known is None or known[0] != version:
        text = ast.unparse(node) if is_reference(node) else ""
        name = f"{text}.sum()" if 0 < len(text) <= LONGEST_NAME else "nnz"
        known = (version, interp.fresh_size(name))
        interp.heap.set(mask.slots, "count", known)
    size: Size = interp.resolved(known[1])
    return size
