"""Matrix factorisation where the table of ratings makes the identifiers floats."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MatrixFactorization(nn.Module):
    def __init__(self, users, items, factors=8):
        super().__init__()
        self.user = nn.Embedding(users, factors)
        self.item = nn.Embedding(items, factors)
        self.bias = nn.Embedding(items, 1)

    def forward(self, pairs):
        user, item = pairs[:, 0], pairs[:, 1]
        dot = (self.user(user) * self.item(item)).sum(1)  # raises TS309 at self.user(user), cause
        return dot + self.bias(item).squeeze(1)


rng = np.random.default_rng(3)
ratings = np.stack([rng.integers(0, 30, 200), rng.integers(0, 50, 200), rng.uniform(1, 5, 200)], axis=1)
table = torch.tensor(ratings, dtype=torch.float32)  # cause
dataset = TensorDataset(table[:, :2], table[:, 2])  # cause
model = MatrixFactorization(30, 50)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for pairs, rating in DataLoader(dataset, batch_size=32, shuffle=True):
        loss = nn.functional.mse_loss(model(pairs), rating)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
