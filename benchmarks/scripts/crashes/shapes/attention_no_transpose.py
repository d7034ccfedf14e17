"""Scores without the transpose."""

import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        k = k.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        v = v.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        scores = q @ k / math.sqrt(c // self.heads)  # raises TS101 at q @ k, cause
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


layer = SelfAttention(32, 4)
optimizer = torch.optim.AdamW(layer.parameters())
for step in range(3):
    x = torch.randn(2, 10, 32)
    loss = layer(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
