"""A comma at the end makes a tuple of a layer."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width),  # cause
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc(self.norm(x))  # raises TS815 at self.norm(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(16) for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


net = Net()
for _ in range(2):
    print(net(torch.randn(3, 16)).shape)
