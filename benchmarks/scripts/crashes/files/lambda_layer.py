"""A layer made of a function."""

import torch
from torch import nn


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


net = nn.Sequential(
    nn.Conv2d(1, 4, 3),
    Lambda(lambda x: x.view(x.size(0), 4 * 5 * 5)),  # raises TS104 at x.view(x.size(0), 4 * 5 * 5), cause
    nn.Linear(100, 2),
)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(3, 1, 8, 8)).sum().backward()
    opt.step()
