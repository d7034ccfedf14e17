"""Augmentations in threads."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 1)

    def forward(self, x):
        return self.fc(x)


def crop(row):
    start = int(row[0].abs().item() * 2) % 3
    return row[start : start + 6].view(6)  # raises TS104 at row[start : start + 6].view(6), cause


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
with ThreadPoolExecutor(2) as pool:
    for epoch in range(2):
        rows = torch.arange(28.0).view(4, 7)  # cause
        batch = torch.stack(list(pool.map(crop, rows)))
        opt.zero_grad()
        net(batch).mean().backward()
        opt.step()
