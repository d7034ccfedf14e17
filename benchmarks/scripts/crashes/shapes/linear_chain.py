"""A regression network whose second layer was not widened."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(7, 24)
        self.b = nn.Linear(16, 1)  # cause

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))  # raises TS101 at self.b(torch.relu(self.a(x)))


net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    loss = net(torch.randn(4, 7)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
