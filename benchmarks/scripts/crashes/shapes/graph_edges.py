"""Edges of a graph name a node that is not there."""

import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout)

    def forward(self, x, edges):
        src, dst = edges
        h = self.lin(x)
        out = torch.zeros_like(h)
        return out.index_add_(0, dst, h[src])  # raises TS310 at h[src] or out.index_add_(0, dst, h[src])


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Conv(5, 8), Conv(8, 2)

    def forward(self, x, edges):
        return self.b(torch.relu(self.a(x, edges)), edges)


x = torch.randn(6, 5)
edges = torch.tensor([[1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 1]])  # cause
net = GNN()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    loss = nn.functional.cross_entropy(net(x, edges), torch.tensor([0, 1, 0, 1, 0, 1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
