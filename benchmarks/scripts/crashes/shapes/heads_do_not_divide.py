"""The width of the model is no multiple of its heads."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads)  # raises TS111 at nn.MultiheadAttention(dim, heads)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.norm(x + self.attn(x, x, x)[0])


for heads in (2, 4, 6):  # cause
    block = Block(32, heads)  # cause
    opt = torch.optim.SGD(block.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        block(torch.randn(4, 2, 32)).sum().backward()
        opt.step()
