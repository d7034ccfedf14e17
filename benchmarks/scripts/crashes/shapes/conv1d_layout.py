"""Sensor windows as (batch, time, channels)."""

import torch
from torch import nn


class Har(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(6, 16, 5)
        self.fc = nn.Linear(16, 4)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).amax(2))  # raises TS102 at self.conv(x), cause


net = Har()
opt = torch.optim.Adam(net.parameters())
for _ in range(2):
    windows = torch.randn(8, 50, 6)  # cause
    loss = nn.functional.cross_entropy(net(windows), torch.randint(0, 4, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
