"""What a run reads in the graph of a loss."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from torchsleuth.runtime.graphs import Graph, made_shape


@pytest.mark.parametrize(
    "loss",
    [
        lambda p, y: ((p - y) ** 2).mean(),
        lambda p, y: ((p - y) ** 2).mean() / 2,
        lambda p, y: 0.5 * (p - y).abs().sum() + p.square().mean(),
        lambda p, y: torch.nn.functional.smooth_l1_loss(p, y[:, None]) + (p - y).pow(2).mean() * 3,
    ],
)
def test_differences_are_found_in_scaled_losses_and_in_terms(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    predicted = torch.randn(4, 1, requires_grad=True)
    found = Graph(loss(predicted, torch.randn(4)).grad_fn).differences()
    assert [made_shape(node) for node in found] == [(4, 4)]


def test_a_difference_of_two_losses_is_none_of_elements() -> None:
    predicted = torch.randn(4, 1, requires_grad=True)
    loss = predicted.square().mean() - predicted.exp().mean() * 2
    assert not Graph(loss.grad_fn).differences()
