"""A generator whose blocks do not follow on each other."""

import torch
from torch import nn


def up(cin, cout):
    return nn.Sequential(nn.ConvTranspose2d(cin, cout, 4, 2, 1), nn.BatchNorm2d(cout), nn.ReLU())


class Generator(nn.Module):
    def __init__(self, z=16, width=8):
        super().__init__()
        self.project = nn.Linear(z, width * 4 * 4 * 4)
        self.width = width
        self.blocks = nn.Sequential(up(4 * width, 2 * width), up(width, width))  # cause
        self.out = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, z):
        x = self.project(z).view(-1, 4 * self.width, 4, 4)
        return torch.tanh(self.out(self.blocks(x)))  # raises TS102 at self.blocks(x)


g = Generator()
opt = torch.optim.Adam(g.parameters())
for _ in range(2):
    loss = g(torch.randn(2, 16)).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
