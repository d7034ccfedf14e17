"""Repairs of what was taken apart along another dimension, or drawn for other samples, than was meant."""

from __future__ import annotations

import pytest

from tests.check import analyze
from tests.rules.test_repairs import repaired

PAIRS = """\
import torch

edges = torch.randint(0, 30, (90, 2))
source, target = edges
print(source.shape, target.shape)
"""
HALVES = """\
import torch
from torch import nn

encode, decode = nn.Linear(20, 12), nn.Linear(6, 20)
mean, log_variance = encode(torch.randn(16, 20)).chunk(2)
z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
print(decode(z).shape)
"""
FIRST = HALVES.replace("chunk(2)", "chunk(2, dim=0)")
SAMPLER = """\
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset, WeightedRandomSampler

x, y = torch.randn(200, 5), torch.randint(0, 2, (200,))
train = Subset(TensorDataset(x, y), range(150))
weights = torch.ones(200)
loader = DataLoader(train, batch_size=20, sampler=WeightedRandomSampler(weights, num_samples=200))
for a, b in loader:
    print(a.shape, b.shape)
"""


@pytest.mark.parametrize(
    ("text", "code", "old", "new"),
    [
        (PAIRS, "TS115", "= edges\n", "= edges.T\n"),
        (HALVES, "TS101", "chunk(2)", "chunk(2, dim=-1)"),
        (FIRST, "TS101", "dim=0", "dim=-1"),
        (SAMPLER, "TS619", "weights, num_samples=200", "weights[train.indices], num_samples=len(train)"),
    ],
)
def test_the_first_fix(text: str, code: str, old: str, new: str) -> None:
    assert [found.code for found in analyze(text).diagnostics] == [code]
    assert repaired(text) == text.replace(old, new)
    assert not analyze(text.replace(old, new)).diagnostics
