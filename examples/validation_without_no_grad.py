"""Validation keeps the whole graph in memory."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_loader(count, batch_size):
    x = torch.randn(count, 16)
    y = (x[:, 0] > x[:, 1]).long()
    return DataLoader(TensorDataset(x, y), batch_size=batch_size)


def train_epoch(model, loader, criterion, optimizer):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()


def validate(model, loader):
    model.eval()
    correct = 0
    for x, y in loader:
        # the prediction is the class with the highest score
        correct += (model(x).argmax(dim=1) == y).sum().item()
    return correct / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    train_loader, val_loader = make_loader(256, 32), make_loader(64, 32)
    for epoch in range(3):
        train_epoch(model, train_loader, nn.CrossEntropyLoss(), optimizer)
        print(f"epoch {epoch}: accuracy {validate(model, val_loader):.2f}")
