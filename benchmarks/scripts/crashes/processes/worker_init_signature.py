"""Workers of a loader are seeded by a function that takes no argument."""

import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, n):
        self.base = torch.randn(n, 7)

    def __len__(self):
        return len(self.base)

    def __getitem__(self, index):
        noise = torch.from_numpy(np.random.randn(7)).float()
        return self.base[index] + 0.1 * noise, torch.tensor(random.random())


def seed_worker():  # cause
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


if __name__ == "__main__":
    model = Model()
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Noisy(24), batch_size=6, num_workers=2, worker_init_fn=seed_worker)  # cause
    for epoch in range(2):
        for x, y in loader:  # raises TS820 at loader
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
