"""The best prediction is copied with its graph."""

import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)
        self.last = None

    def forward(self, x):
        self.last = self.fc(x)  # cause
        return self.last


net, best = Net(), None
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    best = copy.deepcopy(net)  # raises TS412 at copy.deepcopy(net)
