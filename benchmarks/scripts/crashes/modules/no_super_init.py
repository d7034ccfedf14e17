"""The constructor forgets its base class."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        self.width = width  # cause
        self.fc = nn.Linear(width, 1)  # raises TS518 at self.fc or self.fc = nn.Linear(width, 1), cause

    def forward(self, x):
        return self.fc(x)


for width in (4, 8):
    net = Net(width)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        net(torch.randn(3, width)).sum().backward()
        opt.step()
