"""Six numbers are given where matrices of two by three are wanted."""

import torch
import torch.nn.functional as F
from torch import nn


class Aligner(nn.Module):
    def __init__(self):
        super().__init__()
        self.locate = nn.Sequential(nn.Conv2d(1, 4, 7), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 6))

    def forward(self, x):
        theta = self.locate(x)
        grid = F.affine_grid(theta, x.size(), align_corners=False)  # raises TS108 at F.affine_grid(theta, x.size(), align_corners=False), cause
        return F.grid_sample(x, grid, align_corners=False)


net = Aligner()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    x = torch.rand(4, 1, 28, 28)
    loss = F.mse_loss(net(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
