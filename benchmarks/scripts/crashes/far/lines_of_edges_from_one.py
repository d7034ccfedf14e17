"""A graph from lines of text, whose nodes are numbered from one."""
import torch
from torch import nn

class Graph:
    def __init__(self, lines):
        self.pairs = []
        for line in lines:
            a, b = line.split(",")
            self.pairs.append((int(a), int(b)))
        self.size = max(max(p) for p in self.pairs)
    def adjacency(self):
        index = torch.tensor(self.pairs).t()  # cause
        return torch.sparse_coo_tensor(index, torch.ones(index.size(1)), (self.size, self.size))

graph = Graph(["1,2", "2,3", "3,4", "4,1"])
w = nn.Linear(3, 2)
h = torch.randn(graph.size, 3)
a = graph.adjacency()
for _ in range(2):
    loss = (a @ w(h)).square().mean()  # raises TS199 at a @ w(h)
    loss.backward()
