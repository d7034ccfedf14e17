"""Labelled and unlabelled batches come out of two loaders, and are mixed."""

from itertools import cycle

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
labelled = DataLoader(TensorDataset(torch.randn(30, 4), torch.arange(30) % 3), batch_size=8)  # cause
unlabelled = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x, y), (u,) in zip(cycle(labelled), unlabelled):
    weight = torch.rand(len(u), 1)
    mixed = weight * x + (1 - weight) * u  # raises TS103 at weight * x, cause
    loss = nn.functional.cross_entropy(model(x), y) + model(mixed).softmax(1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
