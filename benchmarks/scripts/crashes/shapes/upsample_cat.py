"""Pyramid levels are joined along the wrong dimension."""

import torch
from torch import nn


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.b = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.out = nn.Conv2d(24, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = nn.functional.interpolate(self.b(a), scale_factor=2)
        return self.out(torch.cat((a, b)))  # raises TS106 at torch.cat((a, b)), cause


net = Pyramid()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(2, 3, 16, 16)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
