"""Heads are merged with view after a transpose."""

import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = nn.Linear(24, 24)
        self.out = nn.Linear(24, 24)

    def forward(self, x):
        b, t, c = x.size()
        v = self.value(x).view(b, t, 4, 6).transpose(1, 2)
        merged = v.transpose(1, 2)[:, :, torch.arange(4)].transpose(1, 2).view(b, t, c)  # raises TS105 at v.transpose(1, 2)[:, :, torch.arange(4)].transpose(1, 2).view(b, t, c), cause
        return self.out(merged)


m = Heads()
sgd = torch.optim.SGD(m.parameters(), lr=0.1)
for _ in range(3):
    loss = m(torch.randn(2, 5, 24)).abs().sum()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
