"""Normalised embeddings are computed once, before the loop, and used in every step."""

import torch
import torch.nn.functional as F
from torch import nn


class Recommender(nn.Module):
    def __init__(self, users, items, dim=8):
        super().__init__()
        self.users = nn.Embedding(users, dim)
        self.items = nn.Embedding(items, dim)

    def forward(self, user, catalogue):
        return self.users(user) @ catalogue.t()


model = Recommender(10, 30)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
catalogue = F.normalize(model.items.weight, dim=1)  # cause
for step in range(4):
    user = torch.randint(0, 10, (6,))
    scores = model(user, catalogue)
    loss = F.cross_entropy(scores, torch.randint(0, 30, (6,)))
    opt.zero_grad()
    loss.backward()  # raises TS405 at loss.backward()
    opt.step()
