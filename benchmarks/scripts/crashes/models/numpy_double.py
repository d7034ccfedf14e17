"""Tabular regression on arrays of NumPy."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Table(Dataset):
    def __init__(self, rows, columns):
        rng = np.random.default_rng(0)
        self.features = rng.normal(size=(rows, columns))
        weights = rng.normal(size=(columns, 1))
        self.targets = self.features @ weights
        self.mean, self.std = self.features.mean(0), self.features.std(0)

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        x = (self.features[index] - self.mean) / self.std
        return torch.from_numpy(x), torch.from_numpy(self.targets[index])  # cause


class MLP(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(columns, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)  # raises TS301 at self.net(x)


dataset = Table(64, 7)
loader = DataLoader(dataset, batch_size=16, shuffle=True)
model = MLP(7)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.MSELoss()
for epoch in range(3):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    print(epoch, total / len(dataset))
