"""Features are detached, and the head is frozen."""

import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2)
        for p in self.head.parameters():
            p.requires_grad = False  # cause

    def forward(self, x):
        features = self.body(x).detach()  # cause
        return self.head(features)


probe = Probe()
opt = torch.optim.SGD(probe.body.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(probe(torch.randn(3, 4)), torch.tensor([0, 1, 0]))
    opt.zero_grad()
    loss.backward()  # raises TS401 at loss.backward()
    opt.step()
