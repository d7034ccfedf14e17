"""A head that is only made in training."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, aux=False):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.aux = nn.Linear(3, 1) if aux else None  # cause

    def forward(self, x):
        h = self.fc(x)
        return h.sum() + self.aux.weight.sum()  # raises TS825 at self.aux.weight, cause


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(2, 3)).backward()
    opt.step()
