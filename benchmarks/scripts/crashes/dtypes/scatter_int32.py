"""Messages of a graph are summed by scatter; edges come from NumPy as int32."""

import numpy as np
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)

    def forward(self, x, edges):
        source, target = edges
        message = self.lin(x).index_select(0, source)
        out = torch.zeros(x.shape[0], message.shape[1])
        index = target[:, None].expand_as(message)
        return out.scatter_add(0, index, message)  # raises TS309 at out.scatter_add(0, index, message)


class GraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Layer(5, 16), Layer(16, 3)

    def forward(self, x, edges):
        return self.second(torch.relu(self.first(x, edges)), edges)


def read_graph():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 30, (2, 90)).astype("int32")
    return torch.randn(30, 5), torch.from_numpy(edges)  # cause


x, edges = read_graph()
y = torch.randint(0, 3, (30,))
net = GraphNet()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    loss = nn.functional.cross_entropy(net(x, edges), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
