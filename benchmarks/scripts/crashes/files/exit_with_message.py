"""A command line tool that reports its errors itself."""

import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inp = nn.Linear(4, width)
        self.out = nn.Linear(width, 4)
        self.norm = nn.LayerNorm(width)  # cause

    def forward(self, x):
        return self.norm(self.out(self.inp(x)))  # raises TS109 at self.norm(self.out(self.inp(x)))


def main():
    net = Net(16)
    opt = torch.optim.Adam(net.parameters())
    for _ in range(2):
        loss = net(torch.randn(2, 4)).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()


try:
    main()
except Exception as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(1)
