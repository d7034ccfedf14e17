"""A compiled block adds features of two lengths."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 4, 3)  # cause

    def forward(self, x):
        y = self.conv(x)
        return x + y  # raises TS103 at x + y


block = torch.compile(Block(), backend="eager")
opt = torch.optim.SGD(block.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    block(torch.randn(2, 4, 10)).mean().backward()
    opt.step()
