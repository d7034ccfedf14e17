"""Batch normalisation for pictures behind a linear layer."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 10)
        self.norm = nn.BatchNorm2d(10)  # cause

    def forward(self, x):
        return self.norm(self.fc(x))  # raises TS108 at self.norm(self.fc(x))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(4, 6)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
