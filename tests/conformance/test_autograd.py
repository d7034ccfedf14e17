"""The tables of values/graph.py against eager PyTorch: what backward keeps, what it frees, what shares memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchsleuth.values import graph

Call = Callable[[Tensor], Any]
IMAGE, TOKENS = (2, 2, 8, 8), (5, 2, 4)
LABELS = torch.zeros(3, dtype=torch.long)
OTHER = torch.rand(3, 4)

SAME, COPY = object(), object()
EMBEDDING = nn.Embedding(10, 4)


def of(layer: nn.Module, *more: Any, pick: int | None = None) -> Call:
    """A call of a layer with further operands: tensors, the first operand itself, or a copy of it."""

    def call(x: Tensor) -> Any:
        given = [x if part is SAME else x.detach().clone() if part is COPY else part for part in more]
        result = layer(x, *given)
        return result if pick is None else result[pick]

    return call


# Each sample applies an operator to its first operand, (3, 4) of numbers between 0 and 1 unless SHAPES says otherwise.
CALLS: dict[str, Call] = {
    "pow": lambda x: x**2,
    "norm": lambda x: x.norm(),
    "clamp": lambda x: x.clamp(0.2, 0.8),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: F.log_softmax(x, dim=1),
    "Softmax": nn.Softmax(1),
    "LogSoftmax": nn.LogSoftmax(1),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "LayerNorm": nn.LayerNorm(4),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "BatchNorm1d": nn.BatchNorm1d(4),
    "BatchNorm2d": nn.BatchNorm2d(2),
    "BatchNorm3d": nn.BatchNorm3d(2),
    "group_norm": lambda x: F.group_norm(x, 2),
    "GroupNorm": nn.GroupNorm(2, 4),
    "mul": lambda x: x * 2.0,
    "multiply": lambda x: torch.multiply(x, OTHER),
    "matmul": lambda x: x @ OTHER.T,
    "mm": lambda x: torch.mm(x, OTHER.T),
    "bmm": lambda x: torch.bmm(x, torch.rand(5, 4, 2)),
    "mv": lambda x: torch.mv(x, torch.rand(4)),
    "dot": lambda x: torch.dot(x, torch.rand(4)),
    "addmm": lambda x: torch.addmm(torch.rand(3, 3), x, OTHER.T),
    "div": lambda x: x / 2.0,
    "truediv": lambda x: x / OTHER,
    "true_divide": lambda x: torch.true_divide(x, OTHER),
    "linear": lambda x: F.linear(x, OTHER),
    "conv1d": lambda x: F.conv1d(x, torch.rand(2, 2, 3)),
    "conv2d": lambda x: F.conv2d(x, torch.rand(2, 2, 3, 3)),
    "conv3d": lambda x: F.conv3d(x, torch.rand(2, 2, 3, 3, 3)),
    "Linear": nn.Linear(4, 2),
    "Conv1d": nn.Conv1d(2, 3, 3),
    "Conv2d": nn.Conv2d(2, 3, 3),
    "Conv3d": nn.Conv3d(2, 3, 3),
    "ConvTranspose1d": nn.ConvTranspose1d(2, 3, 3),
    "ConvTranspose2d": nn.ConvTranspose2d(2, 3, 3),
    "ConvTranspose3d": nn.ConvTranspose3d(2, 3, 3),
    "Bilinear": of(nn.Bilinear(4, 4, 2), OTHER),
    "LSTM": of(nn.LSTM(4, 6), pick=0),
    "GRU": of(nn.GRU(4, 6), pick=0),
    "RNN": of(nn.RNN(4, 6), pick=0),
    "LSTMCell": of(nn.LSTMCell(4, 6), pick=0),
    "GRUCell": nn.GRUCell(4, 6),
    "RNNCell": nn.RNNCell(4, 6),
    "MultiheadAttention": of(nn.MultiheadAttention(4, 2), SAME, SAME, pick=0),
    "TransformerEncoderLayer": nn.TransformerEncoderLayer(4, 2, 8),
    "TransformerDecoderLayer": of(nn.TransformerDecoderLayer(4, 2, 8), COPY),
    "TransformerEncoder": nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1),
    "TransformerDecoder": of(nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 1), COPY),
    "Transformer": of(nn.Transformer(4, 2, 1, 1, 8, batch_first=True), COPY),
    "cross_entropy": lambda x: F.cross_entropy(x, LABELS),
    "CrossEntropyLoss": lambda x: nn.CrossEntropyLoss()(x, LABELS),
    "nll_loss": lambda x: F.nll_loss(x, LABELS),
    "NLLLoss": lambda x: nn.NLLLoss()(x, LABELS),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(x, OTHER),
    "BCELoss": lambda x: nn.BCELoss()(x, OTHER),
    "binary_cross_entropy_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, OTHER),
    "BCEWithLogitsLoss": lambda x: nn.BCEWithLogitsLoss()(x, OTHER),
    "kl_div": lambda x: F.kl_div(x, OTHER, reduction="batchmean"),
    "KLDivLoss": lambda x: nn.KLDivLoss(reduction="batchmean")(x, OTHER),
    "scaled_dot_product_attention": lambda x: F.scaled_dot_product_attention(x, torch.rand(TOKENS), torch.rand(TOKENS)),
    "Embedding": lambda x: EMBEDDING(LABELS),
    "embedding": lambda x: F.embedding(LABELS, x),
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "MaxPool1d": nn.MaxPool1d(2),
    "MaxPool2d": nn.MaxPool2d(2),
    "logsumexp": lambda x: x.logsumexp(1),
    "maximum": lambda x: torch.maximum(x, OTHER),
    "minimum": lambda x: torch.minimum(x, OTHER),
    "topk": lambda x: x.topk(2).values,
    "sort": lambda x: x.sort().values,
    "gather": lambda x: x.gather(1, LABELS.unsqueeze(1)),
    "index_select": lambda x: x.index_select(0, LABELS),
    "masked_fill": lambda x: x.masked_fill(OTHER > 0.5, 0.0),
    "where": lambda x: torch.where(OTHER > 0.5, x, OTHER),
    "cosine_similarity": lambda x: F.cosine_similarity(x, OTHER),
    "cdist": lambda x: torch.cdist(x, OTHER),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, OTHER),
    **{
        name: lambda x, name=name: getattr(F, name)(x, OTHER)
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
    },
    **{
        name: lambda x, name=name: getattr(nn, name)()(x, OTHER)
        for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
    },
    # views
    "view": lambda x: x.view(4, 3),
    "view_as": lambda x: x.view_as(torch.rand(4, 3)),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "squeeze": lambda x: x.squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "expand": lambda x: x.expand(2, 3, 4),
    "narrow": lambda x: x.narrow(0, 0, 2),
    "select": lambda x: x.select(0, 1),
    "t": lambda x: x.t(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "movedim": lambda x: x.movedim(0, 1),
    "diagonal": lambda x: x.diagonal(),
    "detach": lambda x: x.detach(),
    "unflatten": lambda x: x.unflatten(1, (2, 2)),
    "chunk": lambda x: x.chunk(2)[0],
    "split": lambda x: x.split(2)[0],
    "unbind": lambda x: x.unbind()[0],
    "unfold": lambda x: x.unfold(1, 2, 1),
}
KEEPS_NOTHING: dict[str, Call] = {
    "add": lambda x: x + OTHER,
    "sub": lambda x: 1 - x,
    "neg": lambda x: -x,
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(1),
    "view": lambda x: x.view(-1),
    "getitem": lambda x: x[0],
    "cat": lambda x: torch.cat([x, OTHER]),
    "stack": lambda x: torch.stack([x, OTHER]),
    "clone": lambda x: x.clone(),
    "cumsum": lambda x: x.cumsum(0),
    "einsum": lambda x: torch.einsum("ij->i", x),
    "double": lambda x: x.double(),
    "pad": lambda x: F.pad(x, (1, 1)),
    "repeat": lambda x: x.repeat(2, 1),
    "dropout": lambda x: F.dropout(x, 0.5, training=False),
}
SHAPES = {
    **dict.fromkeys("BatchNorm2d conv2d Conv2d ConvTranspose2d max_pool2d MaxPool2d".split(), IMAGE),
    **dict.fromkeys("conv3d Conv3d ConvTranspose3d BatchNorm3d".split(), (2, 2, 4, 4, 4)),
    **dict.fromkeys("conv1d Conv1d ConvTranspose1d max_pool1d MaxPool1d".split(), (2, 2, 8)),
    **dict.fromkeys(
        "LSTM GRU RNN MultiheadAttention Transformer TransformerEncoder TransformerDecoder".split(), TOKENS
    ),
    **dict.fromkeys("TransformerEncoderLayer TransformerDecoderLayer scaled_dot_product_attention bmm".split(), TOKENS),
    "dot": (4,),
}


def operand(name: str) -> tuple[Tensor, Tensor]:
    """A leaf, and an operand computed from it that may be changed in place."""
    torch.manual_seed(0)
    leaf = torch.rand(SHAPES.get(name, (3, 4)), requires_grad=True)
    return leaf, leaf + 0.0


def apply(name: str, x: Tensor) -> Any:
    """The operator's sample; one of a single operand is found by its name."""
    if name in CALLS:
        return CALLS[name](x)
    owner = next(owner for owner in (torch, F, nn) if hasattr(owner, name))
    return getattr(owner, name)()(x) if owner is nn else getattr(owner, name)(x)


def backward(result: Tensor) -> None:
    torch.autograd.backward([result], [torch.ones_like(result)], retain_graph=False)


def fails_once_changed(result: Tensor, changed: Tensor) -> None:
    with torch.no_grad():
        changed.mul_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        backward(result)


@pytest.mark.parametrize("name", sorted(graph.FREES | graph.CONTRACTIONS))
def test_a_second_backward_fails(name: str) -> None:
    result = apply(name, operand(name)[1])
    backward(result)
    with pytest.raises(RuntimeError, match="second time"):
        backward(result)


def test_the_gradient_of_a_bias_alone_needs_nothing() -> None:
    x, weight, bias = torch.rand(3, 4), torch.rand(2, 4), torch.rand(2, requires_grad=True)
    for result in (F.linear(x, weight, bias), torch.addmm(bias, x, weight.T)):
        backward(result)
        backward(result)


@pytest.mark.parametrize("name", sorted(KEEPS_NOTHING))
def test_a_second_backward_succeeds(name: str) -> None:
    assert name not in graph.FREES
    result = KEEPS_NOTHING[name](operand(name)[0])
    backward(result)
    backward(result)


@pytest.mark.parametrize("name", sorted(graph.SAVES_RESULT))
def test_the_result_is_saved(name: str) -> None:
    result = apply(name, operand(name)[1])
    fails_once_changed(result, result)


@pytest.mark.parametrize("name", sorted(graph.SAVES_FIRST | graph.WEIGHTED))
def test_the_first_operand_is_saved(name: str) -> None:
    x = operand(name)[1]
    fails_once_changed(apply(name, x), x)


@pytest.mark.parametrize("name", sorted((graph.SAVES_FIRST | graph.WEIGHTED) - graph.COMPOSED))
def test_the_first_operand_is_saved_as_it_is(name: str) -> None:
    """Also one that is not contiguous."""
    shape = SHAPES.get(name, (3, 4))
    order = tuple(range(len(shape)))[::-1]
    x = torch.rand([shape[axis] for axis in order], requires_grad=True).permute(order) + 0.0
    assert len(shape) == 1 or not x.is_contiguous()
    fails_once_changed(apply(name, x), x)


@pytest.mark.parametrize("name", sorted(graph.WEIGHTED))
def test_the_input_is_saved_without_gradient_of_its_own(name: str) -> None:
    x = operand(name)[1].detach()
    fails_once_changed(apply(name, x), x)


@pytest.mark.parametrize("name", sorted(graph.NEEDS_WEIGHT))
def test_the_weight_is_saved(name: str) -> None:
    layer = CALLS[name]
    assert isinstance(layer, nn.Module) and isinstance(layer.weight, Tensor)
    fails_once_changed(layer(operand(name)[1]), layer.weight)


@pytest.mark.parametrize("name", sorted(graph.PRODUCTS))
@pytest.mark.parametrize("first", [True, False])
def test_the_other_factor_is_saved(name: str, first: bool) -> None:
    shapes = {"bmm": ((5, 2, 4), (5, 4, 2)), "dot": ((4,), (4,)), "mv": ((3, 4), (4,)), "mul": ((3, 4), (3, 4))}
    left, right = (torch.rand(shape) for shape in shapes.get(name, ((4, 4), (4, 4))))
    factor, other = (left, right) if first else (right, left)
    factor.requires_grad_()
    fails_once_changed(getattr(torch, name)(left, right), other)


@pytest.mark.parametrize("name", sorted(graph.ZERO_GRADIENT))
def test_the_gradient_is_zero(name: str) -> None:
    leaf, x = operand(name)
    backward(apply(name, x))
    assert leaf.grad is not None and not leaf.grad.any()


@pytest.mark.parametrize("name", sorted(graph.VIEWS))
def test_the_result_shares_memory(name: str) -> None:
    x = operand(name)[1]
    assert apply(name, x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


@pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")
@pytest.mark.parametrize("name", sorted(graph.TAKES_ARRAYS))
def test_numpy_refuses_what_requires_grad(name: str) -> None:
    x = operand(name)[1]
    more = {"clip": (0, 1), "where": (0, 1), "percentile": (50,), "allclose": (0,), "dot": (2,)}.get(name, ())
    more = (0,) if name in ("maximum", "minimum", "add", "multiply") else more
    given = [x, x] if name in ("stack", "concatenate", "vstack", "hstack") else x
    with pytest.raises(RuntimeError, match="requires grad"):
        getattr(numpy, name)(given, *more)
