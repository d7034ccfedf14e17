"""A block under activation checkpointing."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 4 * dim)
        self.down = nn.Linear(2 * dim, dim)  # cause

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))  # raises TS101 at self.down(torch.nn.functional.gelu(self.up(x)))


class Model(nn.Module):
    def __init__(self, dim=8, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


model = Model()
opt = torch.optim.AdamW(model.parameters())
for _ in range(2):
    loss = model(torch.randn(2, 8)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
