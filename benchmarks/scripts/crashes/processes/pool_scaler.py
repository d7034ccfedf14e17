"""Cross-validation: each fold trains a model in a process of its own, on data standardised with NumPy."""

import multiprocessing as mp

import numpy as np
import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, n_out))

    def forward(self, x):
        return self.seq(x)  # raises TS301 at self.seq(x)


def standardise(array):
    return (array - array.mean(0)) / array.std(0)


def train_fold(args):
    fold, X, y = args
    torch.manual_seed(fold)
    model = MLP(X.shape[1], 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    inputs = torch.from_numpy(standardise(X))  # cause
    targets = torch.from_numpy(y)
    for epoch in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)  # cause
        loss.backward()
        optimizer.step()
    return fold, loss.item()


if __name__ == "__main__":
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 9)), rng.integers(0, 2, size=40)
    folds = [(k, X[k::4], y[k::4]) for k in range(4)]
    with mp.Pool(2) as pool:
        for fold, loss in pool.map(train_fold, folds):
            print(fold, loss)
