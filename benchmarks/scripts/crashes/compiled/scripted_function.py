"""A scripted function joins what does not fit."""

import torch
from torch import nn


@torch.jit.script
def merge(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.cat([a, b], dim=1)  # raises TS106 at torch.cat([a, b], dim=1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 1)

    def forward(self, x, y):
        return self.fc(merge(x, y))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    x, y = torch.randn(4, 3), torch.randn(3, 2)  # cause
    opt.zero_grad()
    net(x, y).sum().backward()
    opt.step()
