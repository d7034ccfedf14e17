"""A dataset without a length, shuffled."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):  # cause
    def __init__(self, n):
        self.rows = torch.randn(n, 4)

    def __getitem__(self, i):
        return self.rows[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x in DataLoader(Rows(10), batch_size=2, shuffle=True):  # raises TS603 at DataLoader(Rows(10), batch_size=2, shuffle=True)
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
