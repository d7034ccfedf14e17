"""An adapter has the width of the inputs of its layer where it needs that of the outputs."""

import torch
from torch import nn


class Aside(nn.Module):
    def __init__(self, layer, rank):
        super().__init__()
        self.layer = layer
        self.down = nn.Parameter(torch.randn(rank, layer.in_features) * 0.01)
        self.up = nn.Parameter(torch.zeros(layer.in_features, rank))  # cause

    def forward(self, x):
        return self.layer(x) + x @ self.down.T @ self.up.T  # raises TS103 at self.layer(x) + x @ self.down.T @ self.up.T


net = nn.Sequential(Aside(nn.Linear(5, 14), 2), nn.ReLU(), nn.Linear(14, 3))
opt = torch.optim.Adam([part for name, part in net.named_parameters() if "down" in name or "up" in name])
for _ in range(2):
    loss = nn.functional.cross_entropy(net(torch.randn(6, 5)), torch.randint(0, 3, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
