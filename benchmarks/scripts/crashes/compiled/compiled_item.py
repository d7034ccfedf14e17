"""A compiled step that decides by a number, with the whole graph asked for."""

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.skip = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        if h.mean() > 0:  # raises TS199 at h.mean() > 0 or h.mean(), cause
            return h + self.skip(x)
        return h


model = Gate()
fast = torch.compile(model, backend="eager", fullgraph=True)  # cause
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = fast(torch.randn(2, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
