"""The edges of a graph are pairs in rows, and are unpacked as two rows."""

import torch
from torch import nn


class Convolution(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.linear = nn.Linear(i, o)

    def forward(self, x, edges):
        source, target = edges  # raises TS115 at source, target
        messages = self.linear(x)[source]
        return torch.zeros(len(x), messages.shape[1]).index_add(0, target, messages)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Convolution(8, 16), Convolution(16, 3)

    def forward(self, x, edges):
        return self.two(self.one(x, edges).relu(), edges)


def load():
    x = torch.randn(30, 8)
    edges = torch.randint(0, 30, (90, 2))  # cause
    return x, edges, torch.randint(0, 3, (30,))


x, edges, y = load()
net = Network()
opt = torch.optim.Adam(net.parameters())
for epoch in range(3):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x, edges), y)
    loss.backward()
    opt.step()
