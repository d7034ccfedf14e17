"""A configuration that is read has an option of another name."""

import json
from dataclasses import dataclass

import torch
from torch import nn

SETUP = '{"width": 12, "layer": 3, "rate": 0.05}'  # cause


@dataclass
class Setup:
    width: int = 8
    layers: int = 2
    rate: float = 0.1


setup = Setup(**json.loads(SETUP))  # raises TS918 at Setup(**json.loads(SETUP))
net = nn.Sequential(*[nn.Linear(setup.width, setup.width) for _ in range(setup.layers)])
opt = torch.optim.SGD(net.parameters(), lr=setup.rate)
for _ in range(2):
    loss = net(torch.randn(4, setup.width)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
