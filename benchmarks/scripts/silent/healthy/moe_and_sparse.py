"""A mixture of experts of which some get no sample in a step, and sparse embeddings with their own optimizer."""
import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(500, 12, sparse=True)
        self.gate = nn.Linear(12, 4)
        self.experts = nn.ModuleList(nn.Linear(12, 2) for _ in range(4))

    def forward(self, ids):
        h = self.table(ids).mean(1)
        p = self.gate(h).softmax(1)
        top, where = p.max(1)
        out = torch.zeros(len(ids), 2)
        for k, expert in enumerate(self.experts):
            chosen = (where == k).nonzero().squeeze(1)
            if len(chosen):
                out = out.index_add(0, chosen, expert(h[chosen]) * top[chosen, None])
        return out


torch.manual_seed(0)
ids = torch.randint(0, 500, (800, 6))
y = (ids.float().mean(1) > 250).long()
net = MoE()
sparse = torch.optim.SparseAdam(net.table.parameters(), lr=1e-2)
dense = torch.optim.AdamW([*net.gate.parameters(), *net.experts.parameters()], lr=3e-3)
for epoch in range(5):
    for i in torch.randperm(800).split(16):
        loss = nn.functional.cross_entropy(net(ids[i]), y[i])
        sparse.zero_grad()
        dense.zero_grad()
        loss.backward()
        sparse.step()
        dense.step()
    print(epoch, loss.item())
