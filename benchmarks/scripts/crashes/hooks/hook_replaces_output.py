"""A forward hook that is to look returns what it has looked at."""

import torch
from torch import nn

seen = {}


def remember(name):
    def hook(module, args, output):
        seen[name] = output.detach()
        return output.mean(dim=1)  # cause

    return hook


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 10)
        self.second = nn.Linear(10, 2)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.second(h)  # raises TS101 at self.second(h)


net = Net()
net.first.register_forward_hook(remember("first"))  # cause
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    loss = net(torch.randn(4, 6)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
