"""The steps at which a schedule of noise is read are all moved by one, and the last one has no entry."""
import numpy as np
import torch
from torch import nn


def chosen(count, total):
    steps = np.arange(0, total, total // count)
    return steps + 1  # cause


def levels(total):
    return np.cumprod(1 - np.linspace(0.01, 0.2, total))


class Sampler:
    def __init__(self, net, total):
        self.net, self.levels = net, levels(total)

    def run(self, count, x):
        kept = self.levels[chosen(count, len(self.levels))]  # raises TS310 at self.levels[chosen(count, len(self.levels))]
        for level in reversed(kept):
            x = x - (1 - float(level)) * self.net(x)
        return x


net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = (net(torch.randn(8, 2)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        Sampler(net, 10).run(10, torch.randn(3, 2))
