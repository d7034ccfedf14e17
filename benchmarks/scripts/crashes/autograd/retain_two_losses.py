"""Two losses of one graph."""

import torch
from torch import nn


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8))
        self.one, self.two = nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.one(h), self.two(h)


multi = Multi()
opt = torch.optim.SGD(multi.parameters(), lr=0.1)
for _ in range(2):
    a, b = multi(torch.randn(3, 4))
    loss_a, loss_b = a.pow(2).mean(), b.abs().mean()
    opt.zero_grad()
    loss_a.backward()  # cause
    loss_b.backward()  # raises TS405 at loss_b.backward()
    opt.step()
