"""A full graph is asked for, and a branch depends on data."""

import torch
from torch import nn


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = self.fc(x)
        if y.abs().max() > 1:  # raises TS199 at y.abs().max() > 1 or if y.abs().max() > 1:, cause
            y = y / y.abs().max()
        return y


clip = torch.compile(Clip(), backend="eager", fullgraph=True)  # cause
opt = torch.optim.SGD(clip.parameters(), lr=0.1)
for _ in range(2):
    loss = clip(torch.randn(3, 4)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
