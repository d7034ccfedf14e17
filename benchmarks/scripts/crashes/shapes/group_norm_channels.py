"""Group normalisation for a third of the channels."""

import torch
from torch import nn


def conv(c_in, c_out, groups):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1), nn.GroupNorm(groups, c_out), nn.ReLU())  # raises TS109 at nn.GroupNorm(groups, c_out)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(conv(3, 16, 4), conv(16, 20, 8))  # cause
        self.head = nn.Linear(20, 2)

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(2, 3, 8, 8)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
