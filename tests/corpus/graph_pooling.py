"""Graph classification with batches of graphs of different size: edge lists, index_add_, scatter_reduce, readout."""
from dataclasses import dataclass
from typing import List

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Graph:
    x: Tensor
    edge_index: Tensor
    y: int

    @property
    def num_nodes(self):
        return self.x.size(0)


@dataclass
class GraphBatch:
    x: Tensor
    edge_index: Tensor
    batch: Tensor
    y: Tensor
    num_graphs: int

    @classmethod
    def from_graphs(cls, graphs: List[Graph]):
        xs, edges, batch, ys = [], [], [], []
        offset = 0
        for i, graph in enumerate(graphs):
            xs.append(graph.x)
            edges.append(graph.edge_index + offset)
            batch.append(torch.full((graph.num_nodes,), i, dtype=torch.long))
            ys.append(graph.y)
            offset += graph.num_nodes
        return cls(torch.cat(xs), torch.cat(edges, dim=1), torch.cat(batch), torch.tensor(ys), len(graphs))


class RandomGraphs(Dataset):
    """Rings (class 0) and stars (class 1)."""

    def __init__(self, n=48):
        generator = torch.Generator().manual_seed(0)
        self.graphs = []
        for i in range(n):
            nodes = int(torch.randint(4, 9, (1,), generator=generator))
            if i % 2:
                src, dst = torch.zeros(nodes - 1, dtype=torch.long), torch.arange(1, nodes)
            else:
                src, dst = torch.arange(nodes), torch.arange(nodes).roll(1)
            edge_index = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
            self.graphs.append(Graph(torch.rand(nodes, 5, generator=generator), edge_index, i % 2))

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        return self.graphs[i]


class GINConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(d_in, d_out), nn.BatchNorm1d(d_out), nn.ReLU(), nn.Linear(d_out, d_out))

    def forward(self, x, edge_index):
        src, dst = edge_index
        aggregated = torch.zeros_like(x).index_add_(0, dst, x[src])
        return self.mlp((1 + self.eps) * x + aggregated)


def global_mean_pool(x, batch, size):
    out = x.new_zeros(size, x.size(1)).index_add_(0, batch, x)
    count = torch.bincount(batch, minlength=size).clamp(min=1).unsqueeze(1)
    return out / count


def global_max_pool(x, batch, size):
    index = batch.view(-1, 1).expand_as(x)
    return torch.full((size, x.size(1)), float("-inf")).scatter_reduce(0, index, x, reduce="amax", include_self=False)


class GIN(nn.Module):
    def __init__(self, d_in, hidden, classes, layers=2):
        super().__init__()
        widths = [d_in] + [hidden] * layers
        self.convs = nn.ModuleList(GINConv(a, b) for a, b in zip(widths, widths[1:]))
        self.lin = nn.Linear(2 * hidden, classes)

    def forward(self, data: GraphBatch):
        x = data.x
        for conv in self.convs:
            x = conv(x, data.edge_index).relu()
        pooled = torch.cat([global_mean_pool(x, data.batch, data.num_graphs), global_max_pool(x, data.batch, data.num_graphs)], -1)
        return self.lin(pooled)


torch.manual_seed(0)
loader = DataLoader(RandomGraphs(), batch_size=12, shuffle=True, collate_fn=GraphBatch.from_graphs)
model = GIN(5, 16, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    correct = total = 0
    for data in loader:
        logits = model(data)
        loss = nn.functional.cross_entropy(logits, data.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += int((logits.argmax(dim=-1) == data.y).sum())
        total += data.num_graphs
    print(epoch, loss.item(), correct / total)
