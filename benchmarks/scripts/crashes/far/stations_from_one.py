"""A network of stations, numbered from one in the file, as a sparse matrix."""
import io

import numpy as np
import torch
from torch import nn

FILE = "1 2 0.5\n2 3 0.25\n3 4 0.5\n4 5 1.0\n5 1 0.75\n2 5 0.5\n"


class Network:
    def __init__(self, text):
        rows = np.loadtxt(io.StringIO(text))
        self.start = torch.from_numpy(rows[:, 0]).long()  # cause
        self.end = torch.from_numpy(rows[:, 1]).long()  # cause
        self.length = torch.from_numpy(rows[:, 2]).float()
        self.count = len(self.start.unique())

    def matrix(self):
        pairs = torch.stack([self.start, self.end])
        return torch.sparse_coo_tensor(pairs, self.length, (self.count, self.count), check_invariants=True)  # raises TS199 at torch.sparse_coo_tensor(pairs, self.length, (self.count, self.count), check_invariants=True)


class Flow(nn.Module):
    def __init__(self, network, width=4):
        super().__init__()
        self.table = nn.Parameter(torch.randn(network.count, width))
        self.register_buffer("matrix", network.matrix())

    def forward(self):
        return torch.sparse.mm(self.matrix, self.table)


torch.manual_seed(0)
flow = Flow(Network(FILE))
opt = torch.optim.SGD(flow.parameters(), lr=0.1)
for _ in range(3):
    loss = flow().square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
