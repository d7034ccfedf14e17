"""A weight is made symmetric by a parametrization, of a layer that is not square."""

import torch
from torch import nn
from torch.nn.utils import parametrize


class Symmetric(nn.Module):
    def forward(self, weight):
        return weight.triu() + weight.triu(1).T  # raises TS103 at weight.triu() + weight.triu(1).T


class Net(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.mix = nn.Linear(size, hidden)  # cause
        self.head = nn.Linear(hidden, 2)
        parametrize.register_parametrization(self.mix, "weight", Symmetric())  # cause

    def forward(self, x):
        return self.head(self.mix(x).relu())


torch.manual_seed(0)
for hidden in (6, 8):  # cause
    model = Net(6, hidden)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        loss = nn.functional.cross_entropy(model(torch.randn(8, 6)), torch.arange(8) % 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
