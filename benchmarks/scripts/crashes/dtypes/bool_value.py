"""An if on a tensor of several values."""

import torch
from torch import nn


class Guard(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        y = self.fc(x)
        if (y.abs() > 100).any(dim=1):  # raises TS815/TS199/TS108 at (y.abs() > 100).any(dim=1), cause
            raise OverflowError
        return y


guard = Guard()
opt = torch.optim.SGD(guard.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    guard(torch.randn(4, 3)).mean().backward()
    opt.step()
