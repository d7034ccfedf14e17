"""A projection is split into parts that are too many."""

import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.dim = dim
        self.proj = nn.Linear(dim, 2 * dim)  # cause

    def forward(self, x):
        gate, value, skip = self.proj(x).split(self.dim, dim=-1)  # raises TS115 at gate, value, skip or self.proj(x).split(self.dim, dim=-1), cause
        return torch.sigmoid(gate) * value + skip


mixer = Mixer()
opt = torch.optim.SGD(mixer.parameters(), lr=0.1)
for _ in range(2):
    loss = mixer(torch.randn(3, 12)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
