"""Sizes in a nested configuration that is built at run time."""

from types import SimpleNamespace

import torch
from torch import nn


def load(**given):
    settings = dict(dim=8, heads=2, vocab=20)
    settings.update(given)
    return SimpleNamespace(**settings)


class Model(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        self.norm = nn.LayerNorm(8)  # cause
        self.out = nn.Linear(cfg.dim, cfg.vocab)

    def forward(self, ids):
        return self.out(self.norm(self.emb(ids)))  # raises TS109 at self.norm(self.emb(ids))


model = Model(load(dim=12))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    ids = torch.randint(0, 20, (2, 5))
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
