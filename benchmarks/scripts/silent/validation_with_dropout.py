"""Validation in training mode."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def accuracy(model, loader):
    # fixed: model.eval()
    hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            hits += (model(inputs).argmax(1) == labels).sum().item()  # fault: TS505
            count += len(labels)
    return hits / count


torch.manual_seed(0)
inputs = torch.randn(400, 10)
labels = (inputs[:, 0] + inputs[:, 1] > 0).long()
train_set, val_set = random_split(TensorDataset(inputs, labels), [300, 100])
train_loader = DataLoader(train_set, batch_size=30, shuffle=True)
val_loader = DataLoader(val_set, batch_size=25)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    model.train()
    for inputs, labels in train_loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, accuracy(model, val_loader))
