"""A logger writes its summary when it is collected."""

import torch
from torch import nn


class Meter:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    def __del__(self):
        print(torch.stack(self.values).mean())  # raises TS106/TS823/TS199 at torch.stack(self.values)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)


def run():
    meter, net = Meter(), Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        loss = net(torch.randn(3, 2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.add(loss.item())  # cause


run()
