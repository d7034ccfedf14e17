"""Attention written by hand: the mask of padding lacks the axes of heads and queries."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.d_k = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        b, t, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (z.view(b, t, self.heads, self.d_k).transpose(1, 2) for z in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))  # raises TS103 at scores.masked_fill(mask, float("-inf")), cause
        out = F.softmax(scores, dim=-1) @ v
        return self.proj(out.transpose(1, 2).reshape(b, t, d))


class Tagger(nn.Module):
    def __init__(self, vocab=60, dim=32, tags=9):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.attention = SelfAttention(dim, 4)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, tags)

    def forward(self, tokens):
        mask = tokens == 0  # cause
        x = self.embed(tokens)
        x = self.norm(x + self.attention(x, mask))
        return self.out(x)


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    tokens = torch.randint(1, 60, (6, 10))
    tokens[:, 8:] = 0
    tags = torch.randint(0, 9, (6, 10))
    loss = F.cross_entropy(model(tokens).transpose(1, 2), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
