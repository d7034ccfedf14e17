"""The averaged weights are those from before the head was exchanged."""

import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.body(x))


class Average:
    def __init__(self, model, rate=0.01):
        self.shadow = copy.deepcopy(model)
        self.rate = rate

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.shadow.parameters(), model.parameters()):
            mine.lerp_(theirs, self.rate)  # raises TS103 at mine.lerp_(theirs, self.rate)


torch.manual_seed(0)
model = Net(10)
average = Average(model)  # cause
model.head = nn.Linear(16, 3)  # cause
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(8, 8)), torch.randint(0, 3, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
