"""A mask for the queries where one for the keys belongs."""

import torch
from torch import nn


class Cross(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, q, kv, padding):
        out, _ = self.attn(q, kv, kv, key_padding_mask=padding)  # raises TS111 at self.attn(q, kv, kv, key_padding_mask=padding)
        return out


model = Cross()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    queries, memory = torch.randn(2, 5, 16), torch.randn(2, 9, 16)
    padding = torch.zeros(2, 5, dtype=torch.bool)  # cause
    loss = model(queries, memory, padding).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
