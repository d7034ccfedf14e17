"""Citations between papers, numbered from one in the list, as a sparse matrix that spreads features."""
import numpy as np
import torch
from torch import nn

LIST = [(1, 2), (2, 3), (3, 6), (4, 5), (5, 6), (6, 1)]


def citations(pairs):
    table = np.array(pairs, dtype=np.int64)
    both = torch.from_numpy(table).T  # cause
    return torch.cat([both, both.flip(0)], 1)


def spread(pairs, papers):
    itself = torch.arange(papers).expand(2, -1)
    places = torch.cat([pairs, itself], 1)
    return torch.sparse_coo_tensor(places, torch.ones(places.shape[1]), (papers, papers))


class Topics(nn.Module):
    def __init__(self, matrix, width=4):
        super().__init__()
        self.matrix = matrix
        self.words, self.out = nn.Linear(5, width), nn.Linear(width, 2)

    def forward(self, x):
        return self.out(torch.sparse.mm(self.matrix, self.words(x)).relu())  # raises TS199 at torch.sparse.mm(self.matrix, self.words(x))


torch.manual_seed(0)
papers = 6
net = Topics(spread(citations(LIST), papers))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.functional.cross_entropy(net(torch.ones(papers, 5)), torch.arange(papers) % 2)
    opt.zero_grad()
    loss.backward()
    opt.step()
