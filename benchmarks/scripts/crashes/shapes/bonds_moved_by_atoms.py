"""Graphs are joined to one, and the numbers of their edges are moved as if they were nodes."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Graph:
    nodes: torch.Tensor
    edges: torch.Tensor
    twin: torch.Tensor


@dataclass
class Joined:
    nodes: torch.Tensor
    edges: torch.Tensor
    twin: torch.Tensor


def star(n):
    twin = torch.arange(2 * n).view(n, 2).flip(1).flatten()
    return Graph(torch.randn(n + 1, 3), torch.randn(2 * n, 2), twin)


def join(graphs):
    nodes, edges, twins = [], [], []
    before = 0
    for graph in graphs:
        nodes.append(graph.nodes)
        edges.append(graph.edges)
        twins.append(graph.twin + before)  # cause
        before += len(graph.nodes)
    return Joined(torch.cat(nodes), torch.cat(edges), torch.cat(twins))


class Messages(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 4)

    def forward(self, graph):
        sent = self.layer(graph.edges)
        return sent - sent[graph.twin]  # raises TS310 at sent[graph.twin]


net = Messages()
for sizes in ((1,), (0, 2)):
    net(join([star(n) for n in sizes])).square().mean().backward()
