"""The weights change between the forward pass and the second backward pass."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 5))
        self.first = nn.Linear(5, 1)
        self.second = nn.Linear(5, 1)

    def forward(self, x):
        h = torch.tanh(self.shared(x))
        return self.first(h), self.second(h)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    one, two = net(torch.randn(3, 5))
    opt.zero_grad()
    one.sum().backward(retain_graph=True)
    opt.step()  # cause
    two.sum().backward()  # raises TS403 at two.sum().backward()
    opt.step()
