"""Batch normalisation for the layer before the last change."""

import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.BatchNorm1d(a), nn.ReLU()]  # cause
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)  # raises TS109 at self.layers(x)


mlp = MLP([12, 24, 3])
opt = torch.optim.Adam(mlp.parameters())
for _ in range(3):
    out = mlp(torch.randn(6, 12))
    loss = nn.functional.cross_entropy(out, torch.randint(3, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
