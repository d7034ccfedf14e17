"""Pairs of a loader are unpacked without the parentheses that enumerate needs."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(3, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def fit(model, loader, epochs):
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for i, x, y in enumerate(loader):  # raises TS115 at i, x, y or enumerate(loader), cause
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            opt.step()


fit(Regressor(8), DataLoader(TensorDataset(torch.randn(20, 3), torch.randn(20, 1)), batch_size=5), 2)
