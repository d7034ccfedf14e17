"""Experts are kept in a ModuleDict under names with a dot."""

import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self, versions):
        super().__init__()
        self.heads = nn.ModuleDict()
        for version in versions:
            self.heads[version] = nn.Linear(5, 1)  # raises TS199/TS918 at self.heads[version]

    def forward(self, x, version):
        return self.heads[version](x)


net = Experts(["v1", "v1.5", "v2"])  # cause
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = sum(net(torch.randn(4, 5), v).mean() for v in ("v1", "v2"))
    opt.zero_grad()
    loss.backward()
    opt.step()
