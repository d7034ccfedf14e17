"""Layers go into a Sequential as a list."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        layers = []
        for a, b in zip(widths, widths[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.Sequential(layers)  # raises TS822 at nn.Sequential(layers), cause

    def forward(self, x):
        return self.net(x)


net = Net([4, 8, 2])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(3, 4)).sum().backward()
    opt.step()
