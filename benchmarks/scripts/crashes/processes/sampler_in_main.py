"""A batch sampler of the user's yields what no dataset holds."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class Pairs(Sampler):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):
            yield [i, i + 1]  # cause

    def __len__(self):
        return self.n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


data = TensorDataset(torch.randn(8, 3))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in DataLoader(data, batch_sampler=Pairs(len(data))):  # raises TS310/TS918 at DataLoader(data, batch_sampler=Pairs(len(data))), cause
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
