"""Patches are cut with sizes of another picture; the size is in the environment."""

import os

import torch
from torch import nn

SIDE = int(os.environ.get("SIDE", "30"))


class Patches(nn.Module):
    def __init__(self, patch=8):
        super().__init__()
        self.patch = patch
        self.proj = nn.Linear(3 * patch * patch, 16)

    def forward(self, x):
        b, c, h, w = x.shape
        p = self.patch
        x = x.reshape(b, c, h // p, p, w // p, p)  # raises TS104 at x.reshape(b, c, h // p, p, w // p, p), cause
        return self.proj(x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2))


model = Patches()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    images = torch.randn(2, 3, SIDE, SIDE)  # cause
    loss = model(images).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
