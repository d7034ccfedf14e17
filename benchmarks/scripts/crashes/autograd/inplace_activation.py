"""An activation is overwritten that the backward pass needs."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 6)
        self.b = nn.Linear(6, 1)

    def forward(self, x):
        h = torch.sigmoid(self.a(x))
        y = self.b(h)
        h *= 0.5  # cause
        return y + h.sum(1, keepdim=True)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(4, 6)
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()  # raises TS403 at loss.backward()
    opt.step()
