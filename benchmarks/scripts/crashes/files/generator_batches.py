"""Batches from a generator of windows over a series."""

import torch
from torch import nn


def windows(series, width, batch):
    starts = torch.randperm(len(series) - width)
    for part in starts.split(batch):
        yield torch.stack([series[s : s + width] for s in part]), torch.stack([series[s + width] for s in part])


class Forecaster(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3)
        self.fc = nn.Linear(4 * width, 1)  # cause

    def forward(self, x):
        h = torch.relu(self.conv(x.unsqueeze(1)))
        return self.fc(h.flatten(1))  # raises TS101 at self.fc(h.flatten(1))


width = 12
net = Forecaster(width)
opt = torch.optim.Adam(net.parameters())
series = torch.sin(torch.linspace(0, 20, 100))
for epoch in range(2):
    for x, y in windows(series, width, 16):
        loss = nn.functional.mse_loss(net(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
