"""A padding mask is inverted as an integer would be."""

import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(6, 6)

    def forward(self, x, padded):
        keep = 1 - padded  # raises TS301 at 1 - padded, cause
        h = self.proj(x) * keep.unsqueeze(-1)
        return h.sum(1) / keep.sum(1, keepdim=True)


pool = Pool()
opt = torch.optim.Adam(pool.parameters())
for lengths in ([3, 5], [2, 4]):
    padded = torch.arange(5)[None] >= torch.tensor(lengths)[:, None]
    loss = pool(torch.randn(2, 5, 6), padded).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
