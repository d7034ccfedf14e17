"""Message passing over a batch of small graphs; the features are viewed where they had to be transposed."""
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Batch(NamedTuple):
    nodes: Tensor  # graphs, nodes, features
    adjacency: Tensor  # nodes, nodes
    label: Tensor


class GraphLayer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)

    def forward(self, h, a):
        b, n, f = h.shape
        rows = h.reshape(n, b * f)  # fault: TS120/TS118 | fixed: rows = h.transpose(0, 1).reshape(n, b * f)
        mixed = (a @ rows).view(n, b, f).transpose(0, 1)
        return self.lin(mixed).relu()


class GraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.read = GraphLayer(4, 16), GraphLayer(16, 16), nn.Linear(16, 2)

    def forward(self, batch: Batch):
        h = self.two(self.one(batch.nodes, batch.adjacency), batch.adjacency)
        return self.read(h.mean(1))


def draw(size):
    label = torch.randint(0, 2, (size,))
    nodes = torch.randn(size, 6, 4) + (label.float() - 0.5)[:, None, None]
    return Batch(nodes, ring, label)


torch.manual_seed(8)
ring = (torch.eye(6) + torch.eye(6).roll(1, 0) + torch.eye(6).roll(-1, 0)) / 3
net = GraphNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for it in range(150):
    batch = draw(40)
    out = net(batch)  # fault: TS120/TS118
    loss = nn.functional.cross_entropy(out, batch.label)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 49:
        print(it, loss.item(), (out.argmax(1) == batch.label).float().mean().item())
