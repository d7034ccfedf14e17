"""Blocks under activation checkpointing; the residual has another width than the block."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Bottleneck(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, inner)
        self.fc2 = nn.Linear(inner, inner)  # cause

    def forward(self, x):
        h = self.fc2(nn.functional.gelu(self.fc1(self.norm(x))))
        return x + h  # raises TS103 at x + h


class Deep(nn.Module):
    def __init__(self, dim=32, depth=3):
        super().__init__()
        self.blocks = nn.ModuleList(Bottleneck(dim, dim * 2) for _ in range(depth))  # cause
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


model = Deep()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(2):
    loss = model(torch.randn(4, 32)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
