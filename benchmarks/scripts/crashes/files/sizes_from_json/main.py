"""The sizes come from a file that no analysis reads."""

import json
import os

import torch
from net import Net

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "config.py")) as file:
    config = json.loads(file.read().splitlines()[-1][2:])
net = Net(config["inputs"], config["hidden"])
opt = torch.optim.SGD(net.parameters(), lr=config["lr"])
for _ in range(config["steps"]):
    batch = torch.randn(config["batch"], config["features"])  # cause
    opt.zero_grad()
    net(batch).mean().backward()
    opt.step()
