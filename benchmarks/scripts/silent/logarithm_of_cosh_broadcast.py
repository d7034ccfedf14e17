"""A column of predictions less a row of targets, in a loss that is written by hand."""
import math

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = 2 * x[:, 0] - x[:, 1]


def log_cosh(prediction, target):
    error = prediction - target  # fault: TS114 | fixed: error = prediction.squeeze(1) - target
    return (error + nn.functional.softplus(-2 * error) - math.log(2)).mean()


model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for part in torch.randperm(400).split(40):
        loss = log_cosh(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
