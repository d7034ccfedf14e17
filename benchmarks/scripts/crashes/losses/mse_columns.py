"""Two outputs, targets of three."""

import torch
from torch import nn


class Pose(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 2))  # cause

    def forward(self, x):
        return self.net(x)


pose = Pose()
opt = torch.optim.SGD(pose.parameters(), lr=0.1)
for _ in range(2):
    x, target = torch.randn(4, 9), torch.randn(4, 3)  # cause
    loss = nn.MSELoss()(pose(x), target)  # raises TS103/TS113 at nn.MSELoss()(pose(x), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
