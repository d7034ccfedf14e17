"""A mask of positions indexes a tensor of features."""

import torch
from torch import nn


class MLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 20)

    def forward(self, ids, masked):
        hidden = self.emb(ids)
        return self.head(hidden[masked])  # raises TS103 at hidden[masked]


model = MLM()
opt = torch.optim.Adam(model.parameters())
for _ in range(2):
    ids = torch.randint(0, 20, (2, 10))
    masked = torch.rand(10, 2) < 0.3  # cause
    loss = model(ids, masked).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
