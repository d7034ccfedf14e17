"""Grey pictures have no channel dimension."""

import torch
from torch import nn


class Patches(nn.Module):
    def __init__(self, patch=4, dim=16):
        super().__init__()
        self.patch = patch
        self.proj = nn.Linear(patch * patch, dim)

    def forward(self, images):
        b, c, h, w = images.shape  # raises TS115 at b, c, h, w, cause
        x = images.unfold(2, self.patch, self.patch).unfold(3, self.patch, self.patch)
        return self.proj(x.reshape(b, -1, self.patch * self.patch))


model = Patches()
opt = torch.optim.Adam(model.parameters())
for _ in range(2):
    batch = torch.rand(8, 16, 16)  # cause
    loss = model(batch).var()
    opt.zero_grad()
    loss.backward()
    opt.step()
