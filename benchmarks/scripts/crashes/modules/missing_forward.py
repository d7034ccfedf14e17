"""The forward method is misspelt."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def foward(self, x):  # cause
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(4, 3)).sum()  # raises TS824 at net(torch.randn(4, 3))
    opt.zero_grad()
    loss.backward()
    opt.step()
