"""Standardising a column that is constant divides by zero."""
import torch
from torch import nn


def standardise(x):
    return (x - x.mean(0)) / x.std(0)  # fault: TS920 | fixed: return (x - x.mean(0)) / (x.std(0) + 1e-6)


torch.manual_seed(0)
raw = torch.randn(300, 6) * 5 + 3
raw[:, 4] = 1.0
data = standardise(raw)  # fault: TS920
goal = raw[:, :1] * 0.2
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for i in range(0, 300, 30):
        loss = nn.functional.mse_loss(model(data[i : i + 30]), goal[i : i + 30])  # fault: TS920
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
