"""A checkpoint holds an object of the script's own, which torch.load refuses."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn


@dataclass
class Config:
    width: int = 8
    lr: float = 0.1


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, config.width), nn.ReLU(), nn.Linear(config.width, 1))

    def forward(self, x):
        return self.body(x)


def save(path, net, config):
    torch.save({"config": config, "model": net.state_dict()}, path)  # cause


def resume(path):
    checkpoint = torch.load(path)  # raises TS199/TS803 at torch.load(path), cause
    net = Net(checkpoint["config"])
    net.load_state_dict(checkpoint["model"])
    return net


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "last.pt"
    config = Config()
    net = Net(config)
    for epoch in range(2):
        opt = torch.optim.SGD(net.parameters(), lr=config.lr)
        loss = net(torch.randn(5, 3)).pow(2).mean()
        loss.backward()
        opt.step()
        save(path, net, config)
        net = resume(path)
