"""One run of the sweep."""

import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inp = nn.Linear(5, width)
        self.out = nn.Linear(8, 1)  # cause

    def forward(self, x):
        return self.out(torch.relu(self.inp(x)))  # raises TS101 at self.out(torch.relu(self.inp(x)))


net = Net(int(sys.argv[1]))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(4, 5)).mean().backward()
    opt.step()
