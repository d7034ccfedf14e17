"""Bids as they come from a ledger: sums of money are decimals, and the table of them has no type of numbers."""
from decimal import Decimal

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Ledger:
    def __init__(self, count):
        self.rows = [(Decimal(i) / 4, i % 3, Decimal(i) / 2) for i in range(count)]

    def table(self):
        return np.array(self.rows)  # cause


class Bids(Dataset):
    def __init__(self, table):
        self.x = torch.from_numpy(table[:, :2])  # raises TS301 at torch.from_numpy(table[:, :2])
        self.y = torch.from_numpy(table[:, 2:])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i].float(), self.y[i].float()


def main():
    torch.manual_seed(0)
    data = Bids(Ledger(16).table())
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    for x, y in DataLoader(data, 4):
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()
