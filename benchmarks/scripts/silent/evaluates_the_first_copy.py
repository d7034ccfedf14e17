# What is evaluated is a copy from before the training.
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(900, 12)
y = (x @ torch.randn(12, 5)).argmax(1)
train, val = TensorDataset(x[:700], y[:700]), TensorDataset(x[700:], y[700:])


def accuracy(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for inputs, labels in loader:
            right += (model(inputs).argmax(1) == labels).sum().item()
    return right / len(loader.dataset)


def fit(model, epochs=5):
    best = copy.deepcopy(model)  # fault: TS570
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        model.train()
        for inputs, labels in DataLoader(train, batch_size=50, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
        print(epoch, accuracy(best, DataLoader(val, batch_size=100)))  # fixed: print(epoch, accuracy(model, DataLoader(val, batch_size=100)))
    return best


fit(nn.Sequential(nn.Linear(12, 40), nn.ReLU(), nn.Linear(40, 5)))
