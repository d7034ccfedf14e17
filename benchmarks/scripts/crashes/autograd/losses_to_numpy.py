"""The mean of the epoch's losses is taken with NumPy, over tensors with a graph."""

import numpy as np
import torch
from torch import nn


class History:
    def __init__(self):
        self.values = {"train": [], "valid": []}

    def add(self, phase, value):
        self.values[phase].append(value)

    def mean(self, phase):
        return np.mean(self.values[phase])  # raises TS409 at np.mean(self.values[phase])


def run_epoch(model, batches, history, optimizer=None):
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        history.add("train" if optimizer else "valid", loss)  # cause


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = [(torch.randn(10, 5), torch.randn(10)) for _ in range(6)]
history = History()
for epoch in range(2):
    run_epoch(model, data[:4], history, optimizer)
    print("train", history.mean("train"))
    with torch.no_grad():
        run_epoch(model, data[4:], history)
    print("valid", history.mean("valid"))
