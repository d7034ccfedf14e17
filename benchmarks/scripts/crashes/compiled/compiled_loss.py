"""A compiled step whose loss broadcasts badly."""

import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.mean = nn.Linear(5, k)
        self.weight = nn.Linear(5, k)

    def forward(self, x):
        return self.mean(x), torch.log_softmax(self.weight(x), dim=-1)


def likelihood(mean, weight, target):
    error = -0.5 * (target - mean) ** 2  # raises TS103 at target - mean
    return -torch.logsumexp(error + weight, dim=-1).mean()


@torch.compile(backend="eager")
def compute(net, x, y):
    mean, weight = net(x)
    return likelihood(mean, weight, y)


net = Mixture()
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    x = torch.randn(8, 5)
    y = x.sum(dim=1)  # cause
    loss = compute(net, x, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
