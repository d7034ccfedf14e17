"""The options of a network say how large its pictures are at the end, with one pooling less than there is."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Options:
    side: int = 16
    wide: int = 4
    pools: int = 2

    @property
    def flat(self):
        left = self.side // 2 ** (self.pools - 1)  # cause
        return self.wide * left * left


class Small(nn.Module):
    def __init__(self, options):
        super().__init__()
        parts, wide = [], 1
        for _ in range(options.pools):
            parts += [nn.Conv2d(wide, options.wide, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            wide = options.wide
        self.body = nn.Sequential(*parts, nn.Flatten())
        self.head = nn.Linear(options.flat, 3)

    def forward(self, x):
        return self.head(self.body(x))  # raises TS101 at self.head(self.body(x))


net = Small(Options())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(net(torch.randn(5, 1, 16, 16)), torch.randint(0, 3, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
