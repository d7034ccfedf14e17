"""A hook records features and gets the shape wrong."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).mean((2, 3)))


running = torch.zeros(8)  # cause


def watch(module, inputs, output):
    running.add_(output.detach().mean((0, 2, 3)))  # raises TS103 at running.add_(output.detach().mean((0, 2, 3)))


net = Net()
net.conv.register_forward_hook(watch)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(2, 1, 8, 8)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
