"""The operand that a layer which does not fit is made for: an operand like the one it was given, but for the sizes that the layer states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchsleuth.interp.trace import Operation
from torchsleuth.tensors.dims import Size, is_index
from torchsleuth.values import LibraryModule, Value, items_of

_STATED: dict[str, tuple[int, str, int]] = {
    "Linear": (0, "in_features", -1),
    **{f"Conv{rank}d": (0, "in_channels", -rank - 1) for rank in (1, 2, 3)},
    **{f"ConvTranspose{rank}d": (0, "in_channels", -rank - 1) for rank in (1, 2, 3)},
    **{f"BatchNorm{rank}d": (0, "num_features", 1) for rank in (1, 2, 3)},
    "GroupNorm": (1, "num_channels", 1),
    **dict.fromkeys(("RNN", "LSTM", "GRU"), (0, "input_size", -1)),
    "TransformerEncoderLayer": (0, "d_model", -1),
}
"""Where a layer's constructor says a size of its operand, by position and name, and which dimension has it."""


_GROUPED = frozenset(name for name in _STATED if name.startswith("Conv"))


def fitting_operand(operation: Operation) -> tuple[Size, ...] | None:
    """The shape that the first operand of a layer should have had; None where the layer does not say, or it is the same."""
    module = operation.module
    shape = operation.specs[0].shape if operation.specs else None
    if (
        module is None
        or shape is None
        or len(operation.operands) != 1
        or operation.operands[0] is not _first(operation)
    ):
        return None
    name = module.path.removeprefix("torch.nn.")
    wanted: list[Any] = list(shape)
    if name == "LayerNorm":
        sizes = module.given(0, "normalized_shape")
        sizes = (sizes,) if isinstance(sizes, int) else items_of(sizes)
        if sizes is None or not 0 < len(sizes) <= len(shape):
            return None
        wanted[-len(sizes) :] = sizes
    elif name in _STATED:
        position, keyword, axis = _STATED[name]
        if not is_index(axis, shape):
            return None
        wanted[axis] = module.given(position, keyword)
    if not all(isinstance(size, int) or size in shape for size in wanted) or tuple(wanted) == shape:
        return None
    return tuple(wanted)


def stated_size(module: LibraryModule) -> tuple[int, Value] | None:
    """The dimension of its operand that a layer's constructor states, and its size. None for layers that state none."""
    name = module.path.removeprefix("torch.nn.")
    if name not in _STATED:
        return None
    position, keyword, axis = _STATED[name]
    return axis, module.given(position, keyword)


def divided_sizes(module: LibraryModule) -> Iterator[tuple[Value, Value]]:
    """The sizes that a layer's constructor wants to be multiples of others, with these."""
    name = module.path.removeprefix("torch.nn.")
    if name in _GROUPED:
        place = 8 if "Transpose" in name else 6
        groups = module.given(place, "groups", 1)
        yield module.given(0, "in_channels"), groups
        yield module.given(1, "out_channels"), groups
    elif name == "GroupNorm":
        yield module.given(1, "num_channels"), module.given(0, "num_groups")
    elif name == "MultiheadAttention":
        yield module.given(0, "embed_dim"), module.given(1, "num_heads")
    elif name in ("TransformerEncoderLayer", "TransformerDecoderLayer"):
        yield module.given(0, "d_model"), module.given(1, "nhead")


def _first(operation: Operation) -> Value:
    return operation.args[0] if operation.args else None
