"""Operations counted from autograd graphs are those that PyTorch's own counter counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from torchsleuth.runtime import flops
from torchsleuth.runtime.graphs import Graph

MODELS: dict[str, Callable[[], torch.Tensor]] = {
    "layers": lambda: nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3, bias=False))(torch.randn(5, 8)),
    "a layer of sequences": lambda: nn.Linear(8, 4)(torch.randn(2, 7, 8)),
    "convolutions": lambda: nn.Sequential(nn.Conv2d(3, 6, 3, 2, 1), nn.Conv2d(6, 6, 3, groups=3))(
        torch.randn(2, 3, 12, 10)
    ),
    "a transposed convolution": lambda: nn.ConvTranspose1d(4, 3, 5, stride=2)(torch.randn(2, 4, 9)),
    "attention": lambda: nn.MultiheadAttention(8, 2, batch_first=True)(*[torch.randn(2, 6, 8, requires_grad=True)] * 3)[
        0
    ],
    "an encoder": lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)(torch.randn(3, 5, 8)),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_count_is_that_of_pytorch(name: str) -> None:
    with FlopCounterMode(display=False) as counter:
        made = MODELS[name]()
    counted = sum(map(flops.of, Graph(made.grad_fn).nodes))
    assert counted == counter.get_total_flops() > 0


def test_fused_attention_is_counted_as_its_products_are() -> None:
    query, key = torch.randn(2, 3, 5, 4, requires_grad=True), torch.randn(2, 3, 7, 4, requires_grad=True)
    made = nn.functional.scaled_dot_product_attention(query, key, key)
    with FlopCounterMode(display=False) as counter:
        ((query @ key.transpose(-2, -1)).softmax(-1) @ key).sum()
    assert flops.of(Graph(made.grad_fn).nodes[0]) == counter.get_total_flops() > 0


def test_a_product_without_weights_belongs_to_the_module_around() -> None:
    class Owner:
        def __init__(self, inside: Any = None) -> None:
            self.inside = inside

    whole = Owner()
    query, value = Owner(whole), Owner(whole)
    layers = {query: nn.Linear(4, 4, bias=False), value: nn.Linear(4, 2, bias=False)}
    x = torch.randn(3, 5, 4)
    q, v = (layer(x) for layer in layers.values())
    made = torch.bmm(q, x.transpose(1, 2)) @ v
    found = flops.by_layer(
        Graph(made.grad_fn), lambda identity: next((one for one in layers if id(layers[one].weight) == identity), None)
    )
    assert found == {query: 2 * 15 * 4 * 4, value: 2 * 15 * 4 * 2, whole: 2 * 3 * 25 * 4 + 2 * 3 * 25 * 2}
