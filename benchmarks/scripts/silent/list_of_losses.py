"""Losses are collected with their graphs, on the trainer."""
import torch
from torch import nn


class Fit:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
        self.losses = []

    def __call__(self, stream):
        for x, y in stream:
            loss = (self.model(x) - y).abs().mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.losses.append(loss)  # fault: TS701 | fixed: self.losses.append(loss.detach())


def stream(n):
    for _ in range(n):
        x = torch.randn(12, 3)
        yield x, x.sum(1, keepdim=True)


torch.manual_seed(0)
fit = Fit(nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1)))
fit(stream(100))
print(len(fit.losses), float(fit.losses[-1]))
