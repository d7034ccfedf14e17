"""A model gives a NamedTuple, and the loss takes the wrong field of it."""

from typing import NamedTuple

import torch
from torch import nn


class Output(NamedTuple):
    hidden: torch.Tensor
    logits: torch.Tensor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 3), nn.Tanh())
        self.head = nn.Linear(3, 6)

    def forward(self, x):
        hidden = self.body(x)
        return Output(hidden, self.head(hidden))


class Smoothed:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, output, labels):
        scores = output[0]  # cause
        return nn.functional.cross_entropy(scores, labels, label_smoothing=self.amount)  # raises TS310 at nn.functional.cross_entropy(scores, labels, label_smoothing=self.amount)


torch.manual_seed(0)
model, criterion = Net(), Smoothed(0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = criterion(model(torch.randn(12, 5)), torch.arange(12) % 6)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
