"""A descriptor gives the weight of each head out of one parameter."""

import torch
from torch import nn


class Part:
    def __init__(self, start, size):
        self.start, self.size = start, size

    def __get__(self, module, owner=None):
        return module.weight[self.start : self.start + self.size]


class TwoHeads(nn.Module):
    mean = Part(0, 4)
    scale = Part(4, 4)

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, width))  # cause

    def forward(self, x):
        mean, scale = x @ self.mean.T, (x @ self.scale.T).exp()
        return mean + scale * torch.randn_like(mean)  # raises TS103 at scale * torch.randn_like(mean), cause


torch.manual_seed(0)
model = TwoHeads(5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    loss = model(torch.randn(7, 5)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
