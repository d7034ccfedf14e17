"""Tied weights are assigned as a tensor."""

import torch
from torch import nn


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 4)
        self.head = nn.Linear(4, 12, bias=False)
        self.head.weight = self.emb.weight * 1.0  # raises TS533 at self.head.weight, cause

    def forward(self, ids):
        return self.head(self.emb(ids))


for _ in range(2):
    lm = LM()
    opt = torch.optim.SGD(lm.parameters(), lr=0.1)
    opt.zero_grad()
    lm(torch.tensor([1, 2])).sum().backward()
    opt.step()
