"""A table with words in it."""

import numpy as np
import torch
from torch import nn

rows = np.array([[1.0, 2.0, "yes"], [0.5, 1.0, "no"]], dtype=object)  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for row in rows:
    x = torch.from_numpy(row[:2])  # raises TS301 at torch.from_numpy(row[:2]), cause
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
