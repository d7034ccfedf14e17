"""Relative positions are added by an einsum whose letters do not fit."""

import torch
import torch.nn as nn


class RelativeAttention(nn.Module):
    def __init__(self, dim, heads, length):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.relative = nn.Parameter(torch.randn(2 * length - 1, dim) * 0.02)  # cause
        self.out = nn.Linear(dim, dim)
        index = torch.arange(length)
        self.register_buffer("index", index[None] - index[:, None] + length - 1)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.reshape(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        bias = torch.einsum("bhid,ijd->bhij", q, self.relative[self.index])  # raises TS101/TS103/TS108/TS199 at torch.einsum("bhid,ijd->bhij", q, self.relative[self.index]), cause
        attention = (q @ k.transpose(-1, -2) * self.scale + bias).softmax(-1)
        return self.out((attention @ v).transpose(1, 2).reshape(b, n, d))


model = nn.Sequential(RelativeAttention(32, 4, 12), nn.LayerNorm(32), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(4, 12, 32)
    loss = (model(x).squeeze(-1) - x.mean(-1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
