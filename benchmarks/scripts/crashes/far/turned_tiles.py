"""Strips of a scanned map, some of which are turned."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Turn:
    def __init__(self, share):
        self.share = share

    def __call__(self, tile):
        if random.random() < self.share:
            tile = torch.rot90(tile, 1, (1, 2))  # cause
        return tile


class Noise:
    def __call__(self, tile):
        return tile + 0.1 * torch.randn_like(tile)


class Strips(Dataset):
    def __init__(self, n, steps):
        self.rows, self.steps = torch.rand(n, 1, 12, 20), steps

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        tile = self.rows[i]
        for step in self.steps:
            tile = step(tile)
        return tile, i % 2


def main():
    torch.manual_seed(0)
    random.seed(0)
    loader = DataLoader(Strips(16, [Turn(0.5), Noise()]), 8)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:  # raises TS601 at loader
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()
