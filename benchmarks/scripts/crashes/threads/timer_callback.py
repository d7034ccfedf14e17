"""A timer evaluates while training goes on."""

import threading

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))  # raises TS102 at self.conv(x)


net = Net()


def evaluate():
    with torch.no_grad():
        net(torch.randn(2, 1, 8, 8))  # cause


timer = threading.Timer(0.01, evaluate)
timer.start()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(2, 3, 8, 8)).sum().backward()
    opt.step()
timer.join()
