"""A mask is made once, by a cached property, for another length than the sequences have."""

from functools import cached_property

import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self, dim, length):
        super().__init__()
        self.length = length
        self.project = nn.Linear(dim, 3 * dim)

    @cached_property
    def mask(self):
        return torch.full((self.length, self.length), float("-inf")).triu(1)

    def forward(self, x):
        q, k, v = self.project(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + self.mask  # raises TS103 at q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + self.mask
        return scores.softmax(-1) @ v


torch.manual_seed(0)
model = Causal(8, length=10)  # cause
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(4, 12, 8)  # cause
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
