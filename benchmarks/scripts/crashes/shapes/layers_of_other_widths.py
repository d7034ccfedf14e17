"""Hidden states of all stages are averaged; the last stage is wider."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, widths):
        super().__init__()
        sizes = [20, *widths]
        self.stages = nn.ModuleList(nn.Sequential(nn.Linear(i, o), nn.GELU()) for i, o in zip(sizes, sizes[1:]))

    def forward(self, x):
        hidden = []
        for stage in self.stages:
            x = stage(x)
            hidden.append(x)
        return hidden


class Probe(nn.Module):
    def __init__(self, widths=(32, 32, 48), classes=3):  # cause
        super().__init__()
        self.encoder = Encoder(widths)
        self.weights = nn.Parameter(torch.zeros(len(widths)))
        self.head = nn.Linear(widths[0], classes)

    def forward(self, x):
        stacked = torch.stack(self.encoder(x))  # raises TS106 at torch.stack(self.encoder(x))
        mix = torch.softmax(self.weights, dim=0)
        return self.head((mix[:, None, None] * stacked).sum(0))


torch.manual_seed(0)
probe = Probe()
optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(16, 20), torch.randint(0, 3, (16,))
    loss = nn.functional.cross_entropy(probe(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
