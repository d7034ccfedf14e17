"""A compiled model whose head does not fit."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 12)
        self.head = nn.Linear(10, 2)  # cause

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.head(h)  # raises TS101 at self.head(h)


net = Net()
compiled = torch.compile(net, backend="eager")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = compiled(torch.randn(4, 6)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
