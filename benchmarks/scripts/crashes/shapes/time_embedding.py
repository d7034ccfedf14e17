"""Diffusion: the block of a U-Net is told of the time by a vector that is added to all pixels."""

import math

import torch
from torch import nn


def sinusoids(t, width):
    rates = torch.exp(-math.log(10_000) * torch.arange(width // 2) / (width // 2))
    angles = t[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Block(nn.Module):
    def __init__(self, inner, outer, time):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, 3, padding=1)
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(time, outer))
        self.norm = nn.GroupNorm(4, outer)

    def forward(self, x, time):
        h = self.norm(self.conv(x))
        h = h + self.time(time)  # raises TS103/TS108 at h + self.time(time), cause
        return torch.relu(h)


class Denoiser(nn.Module):
    def __init__(self, time=32):
        super().__init__()
        self.width = time
        self.down, self.up = Block(1, 16, time), Block(16, 8, time)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x, t):
        time = sinusoids(t, self.width)
        return self.out(self.up(self.down(x, time), time))


torch.manual_seed(0)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters())
for step in range(5):
    x, t, noise = torch.rand(12, 1, 14, 14), torch.rand(12), torch.randn(12, 1, 14, 14)
    kept = torch.cos(t * math.pi / 2).view(-1, 1, 1, 1)
    loss = (model(kept * x + (1 - kept**2).sqrt() * noise, t) - noise).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
