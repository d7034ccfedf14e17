"""A head for a rank that is not there."""

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        weights = torch.softmax(self.score(x), dim=2)  # raises TS107 at torch.softmax(self.score(x), dim=2), cause
        return (weights * x).sum(dim=1)


gate = Gate(8)
optimizer = torch.optim.Adam(gate.parameters())
for epoch in range(2):
    for batch in torch.randn(32, 8).split(8):
        optimizer.zero_grad()
        gate(batch).mean().backward()
        optimizer.step()
