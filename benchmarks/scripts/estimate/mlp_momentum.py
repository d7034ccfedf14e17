"""A classifier trained from a DataLoader, with momentum and weight decay, in functions."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.hidden = nn.Linear(inputs, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.dropout = nn.Dropout(0.3)
        self.out = nn.Linear(hidden, classes)

    def forward(self, x):
        x = self.hidden(x)
        x = self.norm(x)
        x = F.relu(x)
        x = self.dropout(x)
        return self.out(x)


def train_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits, targets)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=2048)
    args = parser.parse_args()
    data = TensorDataset(torch.randn(512, 300), torch.randint(0, 20, (512,)))
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True)
    model = Classifier(300, args.hidden, 20)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    for epoch in range(2):
        print(epoch, train_epoch(model, loader, optimizer))


if __name__ == "__main__":
    main()
