"""A mask for multi-head attention with one batch entry per example instead of one per head."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, mask):
        y, _ = self.attention(x, x, x, attn_mask=mask)  # raises TS111 at self.attention(x, x, x, attn_mask=mask)
        return self.norm(x + y)


class Model(nn.Module):
    def __init__(self, width=32, heads=4, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.out = nn.Linear(width, 1)

    def forward(self, x, lengths):
        position = torch.arange(x.shape[1])
        hidden = position[None, :] >= lengths[:, None]
        mask = hidden[:, None, :].expand(-1, x.shape[1], -1)  # cause
        for block in self.blocks:
            x = block(x, mask)
        return self.out(x.mean(1)).squeeze(-1)


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    lengths = torch.randint(3, 9, (6,))
    x = torch.randn(6, 9, 32)
    loss = (model(x, lengths) - lengths.float()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
