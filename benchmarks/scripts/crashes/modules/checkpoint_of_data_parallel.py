"""Weights that were saved with the prefix of a wrapper."""

import os
import tempfile

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


path = os.path.join(tempfile.mkdtemp(), "model.pt")
wrapped = nn.DataParallel(Net())
torch.save(wrapped.state_dict(), path)  # cause

net = Net()
net.load_state_dict(torch.load(path))  # raises TS530 at net.load_state_dict(torch.load(path)), cause
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(2, 3)).sum().backward()
    opt.step()
