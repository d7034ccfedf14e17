"""A new optimizer in every epoch forgets what Adam has learned, inside of a function."""
import torch
from torch import nn


def train_epoch(model, x, y, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)  # fault: TS535
    for i in range(0, len(x), 32):
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(x[i : i + 32]), y[i : i + 32])
        loss.backward()
        optimizer.step()
    return loss.item()


def train_epoch_with(model, x, y, optimizer):
    for i in range(0, len(x), 32):
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(x[i : i + 32]), y[i : i + 32])
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
x = torch.randn(640, 7)
y = torch.sin(x).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 1))
kept = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    print(epoch, train_epoch(model, x, y, 3e-3))  # fault: TS535 | fixed: print(epoch, train_epoch_with(model, x, y, kept))
