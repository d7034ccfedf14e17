"""Half of the pipeline is in bfloat16."""

import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, dim, rank):
        super().__init__()
        self.down = nn.Linear(dim, rank, bias=False)
        self.up = nn.Linear(rank, dim, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.up(self.down(x))  # raises TS301 at self.down(x)


class LoraLinear(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base
        self.adapter = Adapter(base.in_features, rank)  # cause

    def forward(self, x):
        return self.base(x) + self.adapter(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(32, 32) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


net = Net().to(torch.bfloat16)  # cause
for parameter in net.parameters():
    parameter.requires_grad_(False)
for index, layer in enumerate(net.layers):
    net.layers[index] = LoraLinear(layer)
optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-3)
for step in range(3):
    x = torch.randn(4, 32, dtype=torch.bfloat16)  # cause
    loss = net(x).float().pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
