"""Class indices that were read as floats."""

import numpy as np
import torch
from torch import nn

table = np.random.default_rng(1).random((40, 5)).astype("float32")
table[:, 4] = np.arange(40) % 3


class Iris(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))

    def forward(self, x):
        return self.layers(x)


model, criterion = Iris(), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
inputs = torch.from_numpy(table[:, :4])
targets = torch.from_numpy(table[:, 4])  # cause
for epoch in range(3):
    loss = criterion(model(inputs), targets)  # raises TS302/TS113 at criterion(model(inputs), targets), cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
