"""The tags of an operator's results: properties of the values, whatever their shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from torchsleuth.interp.library import integers
from torchsleuth.sifting import first_of
from torchsleuth.values import UNSORTED, Bounds, Ends, Lengths, Tags, Tensor, Value

KEPT_BY = frozenset(
    "view reshape squeeze unsqueeze flatten contiguous permute transpose clone float double half to detach "
    "getitem type t T mT expand chunk split unflatten movedim swapaxes identity Identity Flatten repeat flip roll tile "
    "repeat_interleave expand_as view_as reshape_as index_select narrow select unbind ravel".split()
)
"""Operators that move or pick values."""
_IN_ORDER = frozenset(
    "view reshape squeeze unsqueeze flatten contiguous clone float double to detach type identity ravel".split()
)
"""Those of them that leave all values in the order in which they are."""
_JOINS = frozenset("cat concat concatenate stack hstack vstack column_stack dstack".split())
_GIVEN = {
    "softmax": "softmax",
    "log_softmax": "log_softmax",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "sigmoid": "sigmoid",
    "Sigmoid": "sigmoid",
    "Softmax2d": "softmax",
    # What a layer with weights puts out is unbounded.
    **dict.fromkeys(
        "Linear Bilinear LazyLinear linear bilinear Conv1d Conv2d Conv3d LazyConv1d LazyConv2d LazyConv3d conv1d conv2d "
        "conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d conv_transpose1d conv_transpose2d "
        "conv_transpose3d".split(),
        "logits",
    ),
}
ACTIVATIONS = frozenset(
    "tanh Tanh relu ReLU leaky_relu LeakyReLU elu ELU gelu GELU silu SiLU selu SELU celu CELU prelu PReLU relu6 ReLU6 "
    "mish Mish softplus Softplus hardswish Hardswish softsign Softsign".split()
)
"""Functions that keep what is unbounded out of [0, 1]: the result is neither a probability nor its logarithm."""
PRODUCTS = frozenset("matmul mm bmm mv addmm baddbmm einsum".split())
_AVERAGES = frozenset(
    "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d RMSNorm "
    "batch_norm layer_norm group_norm instance_norm rms_norm Dropout dropout mean AvgPool1d AvgPool2d AdaptiveAvgPool1d "
    "AdaptiveAvgPool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d Upsample interpolate".split()
)
"""Operators that scale, shift or average what is unbounded, and so leave it unbounded."""
_SUMS = frozenset("add sub".split())
_SCALES = frozenset("mul multiply div divide truediv neg".split())
_TURNS = frozenset("t T mT transpose permute".split())


def of_result(
    name: str, tensors: Sequence[Tensor], args: tuple[Value, ...], kwargs: Mapping[str, Value] = MappingProxyType({})
) -> Tags:
    """The tags of what an operator of this name makes of these tensors."""
    given = () if kwargs else args
    name = name if name in KEPT_BY else name.rstrip("_")
    if name in _GIVEN:
        return frozenset({_GIVEN[name]})
    if name in KEPT_BY and tensors:
        kept = integers.of_part(tensors[0].tags, name, given)
        return (
            kept
            if name in _IN_ORDER
            else frozenset(tag for tag in kept if tag != UNSORTED and not isinstance(tag, Lengths))
        )
    if name in _JOINS and tensors:
        return integers.joined(tensors)
    if name in ACTIVATIONS:
        return frozenset({"activation"} if tensors and "logits" in tensors[0].tags else ())
    moved = integers.of_drawn(name, tensors, args, kwargs) or integers.computed(name, given, held)
    if moved is not None:
        return frozenset({moved})
    return frozenset({"logits"}) if _is_unbounded(name, tensors) else frozenset()


def held(value: Value) -> Bounds | Ends | None:
    """The integers that a tensor is known to hold; those of few bits may overflow."""
    if not isinstance(value, Tensor) or value.spec.dtype in ("uint8", "int8", "int16"):
        return None
    return first_of(value.tags, Bounds, Ends)


def _is_unbounded(name: str, tensors: Sequence[Tensor]) -> bool:
    """Whether an operator leaves the raw output of a layer as unbounded, or is itself a layer written by hand: a product
    with weights, such an output with a bias, or scaled by a number or a weight."""
    raw = ["logits" in tensor.tags for tensor in tensors]
    if name in PRODUCTS:
        return any(raw) or any(map(_is_weight, tensors))
    if name in _AVERAGES:
        return raw[:1] == [True]
    if name in _SUMS:
        return any(raw) and all(one or _is_weight(tensor) for one, tensor in zip(raw, tensors))
    return name in _SCALES and sum(raw) == 1 and all(one or _is_weight(tensor) for one, tensor in zip(raw, tensors))


def _is_weight(tensor: Tensor) -> bool:
    """Whether a tensor is a parameter, or one with its dimensions in another order."""
    origin = tensor.origin
    turned = origin is not None and origin.name in _TURNS and len(origin.sources) == 1
    return tensor.parameter or (turned and origin is not None and origin.sources[0].parameter)
