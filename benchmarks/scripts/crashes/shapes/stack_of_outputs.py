"""Outputs of several steps whose last one is reduced."""

import torch
from torch import nn


class Roll(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 5)

    def forward(self, x):
        h = torch.zeros(x.size(1), 5)
        outputs = []
        for t in range(x.size(0)):
            h = self.cell(x[t], h)
            outputs.append(h if t < 3 else h.mean(1))  # cause
        return torch.stack(outputs)  # raises TS106 at torch.stack(outputs)


roll = Roll()
opt = torch.optim.Adam(roll.parameters())
for _ in range(2):
    loss = roll(torch.randn(4, 2, 3)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
