"""Part of the network was never given memory."""

import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.down = nn.Linear(dim, 2, device="meta")  # cause
        self.up = nn.Linear(2, dim)

    def forward(self, x):
        return x + self.up(self.down(x))  # raises TS201 at self.down(x) or self.up(self.down(x))


adapter = Adapter(6)
opt = torch.optim.SGD(adapter.up.parameters(), lr=0.1)
for _ in range(2):
    loss = adapter(torch.randn(3, 6)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
