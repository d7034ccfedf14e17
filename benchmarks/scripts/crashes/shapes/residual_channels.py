"""A residual block that doubles its channels without a projection."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, padding=1)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, padding=1)
        self.shortcut = nn.Identity()  # cause

    def forward(self, x):
        out = torch.relu(self.conv1(x))
        out = self.conv2(out)
        return torch.relu(out + self.shortcut(x))  # raises TS103 at out + self.shortcut(x)


model = nn.Sequential(Block(3, 16), Block(16, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 3, 16, 16)), torch.tensor([0, 1, 0, 1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
