"""The loss is a number by the time backward is called."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 1))

    def forward(self, x):
        return self.layers(x)


class Criterion(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight
        self.mse = nn.MSELoss()

    def forward(self, prediction, target, model):
        penalty = sum(p.pow(2).sum() for p in model.parameters())
        return (self.mse(prediction, target) + self.weight * penalty).item()  # cause


model, criterion = Net(), Criterion(1e-4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
history = []
for step in range(5):
    x = torch.randn(16, 10)
    target = x.sum(1, keepdim=True)
    loss = criterion(model(x), target, model)
    optimizer.zero_grad()
    loss.backward()  # raises TS823/TS401/TS407/TS824/TS825 at loss.backward
    optimizer.step()
    history.append(loss)
