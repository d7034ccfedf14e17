"""A compiled loss."""

import torch
from torch import nn


@torch.compile(backend="eager")
def distance(a, b):
    return (a @ b).diagonal().sum()  # raises TS101 at a @ b, cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = distance(net(torch.randn(3, 6)), torch.randn(3, 4))
    opt.zero_grad()
    loss.backward()
    opt.step()
