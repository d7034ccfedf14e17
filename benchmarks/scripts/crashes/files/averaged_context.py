"""A context manager evaluates with averaged weights, and puts the others back."""

from contextlib import contextmanager

import torch
from torch import nn


class Average:
    def __init__(self, model):
        self.kept = [p.detach().clone() for p in model.parameters() if p.dim() > 1]  # cause

    def update(self, model, decay=0.9):
        weights = [p for p in model.parameters() if p.dim() > 1]
        for kept, p in zip(self.kept, weights):
            kept.mul_(decay).add_(p.detach(), alpha=1 - decay)

    @contextmanager
    def applied(self, model):
        before = [p.detach().clone() for p in model.parameters()]
        for p, kept in zip(model.parameters(), self.kept):
            p.data.copy_(kept)  # raises TS103 at p.data.copy_(kept), cause
        try:
            yield model
        finally:
            for p, old in zip(model.parameters(), before):
                p.data.copy_(old)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2))
average = Average(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(8, 6)), torch.arange(8) % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
    if step % 2 == 1:
        with average.applied(model), torch.no_grad():
            print(step, model(torch.randn(8, 6)).argmax(1).sum().item())
