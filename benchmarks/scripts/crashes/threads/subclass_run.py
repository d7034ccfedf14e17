"""A logger thread that averages what it is sent."""

import threading

import torch
from torch import nn


class Averager(threading.Thread):
    def __init__(self, values):
        super().__init__()
        self.values = values

    def run(self):
        total = torch.stack(self.values).mean()  # raises TS106 at torch.stack(self.values)
        print(total.item())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
for step in range(4):
    out = net(torch.randn(2, 3))
    loss = out.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.detach() if step else out.detach())  # cause
averager = Averager(losses)
averager.start()
averager.join()
