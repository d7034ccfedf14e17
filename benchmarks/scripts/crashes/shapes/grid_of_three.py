"""A spatial transformer whose grid is stacked in the wrong place."""

import torch
from torch import nn
from torch.nn import functional as F


class Warp(nn.Module):
    def __init__(self, size):
        super().__init__()
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
        self.register_buffer("grid", torch.stack([xs, ys]))  # cause
        self.shift = nn.Linear(3, 2)

    def forward(self, image):
        offset = self.shift(image.mean((2, 3)))
        grid = self.grid[None] + offset[:, :, None, None]
        return F.grid_sample(image, grid)  # raises TS199 at F.grid_sample(image, grid)


torch.manual_seed(0)
net = nn.Sequential(Warp(16), nn.Flatten(), nn.Linear(3 * 16 * 16, 5))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(2):
    loss = F.cross_entropy(net(torch.rand(6, 3, 16, 16)), torch.randint(0, 5, (6,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
