"""A split has one part of the samples, and its sampler weighs them all."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler, random_split


class Wells(Dataset):
    def __init__(self, count=240):
        self.logs = torch.randn(count, 5)
        self.dry = (torch.rand(count) < 0.2).long().tolist()

    def __len__(self):
        return len(self.dry)

    def __getitem__(self, i):
        return self.logs[i], self.dry[i]


def even(marks):
    share = [marks.count(kind) for kind in (0, 1)]
    return WeightedRandomSampler([1 / share[mark] for mark in marks], len(marks))


class Field:
    def __init__(self):
        self.wells = Wells()
        self.known, self.kept = random_split(self.wells, [180, 60])

    def batches(self):
        draw = even(self.wells.dry)  # cause
        return DataLoader(self.known, batch_size=30, sampler=draw)


torch.manual_seed(0)
net = nn.Linear(5, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for logs, dry in Field().batches():  # raises TS310/TS619 at Field().batches()
    loss = nn.functional.cross_entropy(net(logs), dry)
    opt.zero_grad()
    loss.backward()
    opt.step()
