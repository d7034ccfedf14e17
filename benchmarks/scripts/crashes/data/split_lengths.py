"""Lengths that do not add up."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)


data = TensorDataset(torch.randn(33, 2))
train, valid = random_split(data, [int(0.8 * len(data)), int(0.2 * len(data))])  # raises TS612 at random_split(data, [int(0.8 * len(data)), int(0.2 * len(data))]), cause
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in DataLoader(train, batch_size=8):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
