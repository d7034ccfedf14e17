"""Unbalanced classes: the weights come from counts."""

import numpy as np
import torch
from losses import LOSSES
from torch import nn

labels = np.array([0, 0, 0, 1, 1, 2] * 4)
counts = np.bincount(labels)
weight = torch.from_numpy(len(labels) / (len(counts) * counts))  # cause

model = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 3))
criterion = LOSSES["focal"](gamma=1.5, weight=weight)  # cause
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    for batch in np.split(np.random.permutation(len(labels)), 4):
        x, y = torch.randn(len(batch), 7), torch.from_numpy(labels[batch])
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
