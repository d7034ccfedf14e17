"""A recommender with an optimizer for each table in a dictionary; one of them is cleared and never stepped."""
import random
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
random.seed(1)
USERS, ITEMS, K = 60, 90, 12
taste = torch.randn(USERS, 3) @ torch.randn(3, ITEMS)
liked = [(u, i) for u in range(USERS) for i in range(ITEMS) if taste[u, i] > 1.2]


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, K, sparse=True)
        self.item = nn.Embedding(ITEMS, K, sparse=True)
        self.bias = nn.Parameter(torch.zeros(ITEMS))

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias[i]


net = Factors()
optimizers = {
    "user": torch.optim.SparseAdam(net.user.parameters(), lr=0.02),
    "item": torch.optim.SparseAdam(net.item.parameters(), lr=0.02),  # fault: TS503/TS512
    "bias": torch.optim.Adagrad([net.bias], lr=0.05),
}
log = defaultdict(list)


def triples(size):
    pairs = random.sample(liked, size)
    u, i = (torch.tensor(side) for side in zip(*pairs))
    return u, i, torch.randint(0, ITEMS, (size,))


for step in range(200):
    u, pos, neg = triples(128)
    gap = net(u, pos) - net(u, neg)
    loss = -F.logsigmoid(gap).mean()
    for opt in optimizers.values():
        opt.zero_grad()
    loss.backward()
    for name in ("user", "bias"):  # fault: TS503/TS512 | fixed: for name in optimizers:
        optimizers[name].step()  # fault: TS503/TS512
    log["bpr"].append(loss.item())
print(log["bpr"][0], log["bpr"][-1])
