"""Targets as one-hot integers."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    y = nn.functional.one_hot(torch.tensor([0, 2, 1]), 3)  # cause
    loss = nn.functional.cross_entropy(net(torch.randn(3, 4)), y)  # raises TS302 at nn.functional.cross_entropy(net(torch.randn(3, 4)), y), cause
    opt.zero_grad()
    loss.backward()
    opt.step()
