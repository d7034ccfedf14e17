"""Robust scaling by quantiles, after the features were made half to save memory."""

import torch
from torch import nn


class Scaler:
    def __init__(self, low=0.05, high=0.95):
        self.q = torch.tensor([low, high])

    def fit(self, x):
        self.low, self.high = torch.quantile(x, self.q, dim=0)  # raises TS301 at torch.quantile(x, self.q, dim=0)
        return self

    def __call__(self, x):
        return (x - self.low) / (self.high - self.low + 1e-6)


def load_features(rows=64):
    features = torch.randn(rows, 10)
    return features.half()  # cause


def main():
    torch.manual_seed(0)
    x = load_features()
    y = torch.randint(0, 2, (64,))
    scaled = Scaler().fit(x)(x).float()
    model = nn.Linear(10, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(scaled), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
