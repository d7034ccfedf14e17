"""A curve of weights is collected for a plot."""

import numpy as np
import torch
from torch import nn


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.slope * x


line, curve = Line(), []
opt = torch.optim.SGD(line.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(10)
    loss = (line(x) - 2 * x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    curve.append(np.asarray(line.slope))  # raises TS409 at np.asarray(line.slope), cause
