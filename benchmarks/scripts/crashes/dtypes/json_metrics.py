"""Metrics that are tensors are written as JSON."""

import json

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


def log(step, **metrics):
    return json.dumps({"step": step, **metrics})  # raises TS199/TS918/TS825 at json.dumps({"step": step, **metrics})


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(log(step, loss=loss.detach(), lr=opt.param_groups[0]["lr"]))  # cause
