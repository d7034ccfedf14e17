"""Class weights are counted over the labels that occur in the training part only."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 6


def class_weights(labels):
    counts = torch.bincount(labels).float()  # cause
    return counts.sum() / (counts + 1)


def train(epochs=2):
    torch.manual_seed(0)
    x = torch.randn(200, 12)
    y = torch.randint(0, CLASSES - 1, (200,))
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, CLASSES))
    criterion = nn.CrossEntropyLoss(weight=class_weights(y))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for xb, yb in DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True):
            loss = criterion(model(xb), yb)  # raises TS113 at criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


train()
