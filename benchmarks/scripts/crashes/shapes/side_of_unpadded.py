"""The side of the last image is computed without the borders that convolutions lose."""

from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Config:
    channels: list = field(default_factory=lambda: [3, 16, 32])
    kernel: int = 3
    stride: int = 2
    image: int = 32
    classes: int = 10


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        pairs = zip(config.channels, config.channels[1:])
        self.stages = nn.Sequential(*[nn.Sequential(nn.Conv2d(a, b, config.kernel, config.stride), nn.ReLU()) for a, b in pairs])
        side = config.image // config.stride ** (len(config.channels) - 1)
        self.head = nn.Linear(config.channels[-1] * side * side, config.classes)  # cause

    def forward(self, x):
        return self.head(self.stages(x).flatten(1))  # raises TS101 at self.head(self.stages(x).flatten(1))


config = Config()
net = Net(config)
opt = torch.optim.AdamW(net.parameters())
for _ in range(2):
    x, y = torch.randn(4, 3, config.image, config.image), torch.randint(0, config.classes, (4,))
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
