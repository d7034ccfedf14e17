"""Half of a width is a float."""

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down = nn.Linear(width, width / 2)  # raises TS312 at nn.Linear(width, width / 2), cause
        self.up = nn.Linear(width / 2, width)

    def forward(self, x):
        return x + self.up(torch.relu(self.down(x)))


for width in (8, 16):
    block = Bottleneck(width)
    opt = torch.optim.SGD(block.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        block(torch.randn(2, width)).sum().backward()
        opt.step()
