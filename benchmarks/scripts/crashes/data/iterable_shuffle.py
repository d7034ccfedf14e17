"""A stream cannot be shuffled by its loader."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        for _ in range(24):
            x = torch.randn(4)
            yield x, (x.sum() > 0).float()


net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1), nn.Flatten(0))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    loader = DataLoader(Stream(), batch_size=6, shuffle=True)  # raises TS605/TS613 at DataLoader(Stream(), batch_size=6, shuffle=True), cause
    for x, y in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
