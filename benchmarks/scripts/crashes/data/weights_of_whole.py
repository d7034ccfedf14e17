"""Rare classes are drawn more often: each sample has a weight."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler, random_split


def balanced(labels, count):
    frequency = torch.bincount(labels).float()
    return WeightedRandomSampler(1 / frequency[labels], num_samples=count)


torch.manual_seed(0)
labels = (torch.rand(400) < 0.1).long()
data = TensorDataset(torch.randn(400, 12) + labels[:, None], labels)
train, held_out = random_split(data, [300, 100])
loader = DataLoader(train, batch_size=25, sampler=balanced(labels, len(train)))  # cause
model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in loader:  # raises TS310/TS619 at loader
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in DataLoader(held_out, 50))
    print(epoch, hits / len(held_out))
