"""The checkpoint is written at the end, and cannot be."""

import atexit

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
average = {name: torch.zeros(1, 3) for name in net.state_dict()}  # cause
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def save():
    net.load_state_dict(average)  # raises TS530 at net.load_state_dict(average)
    print("saved")


atexit.register(save)
for _ in range(2):
    loss = net(torch.randn(2, 3)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
