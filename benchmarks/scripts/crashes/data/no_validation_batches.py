"""The validation part is smaller than a batch, and the last batch is dropped: the mean is over none."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def loaders(data, batch_size=32):
    train, valid = random_split(data, [180, 20])
    kwargs = dict(batch_size=batch_size, drop_last=True)  # cause
    return DataLoader(train, shuffle=True, **kwargs), DataLoader(valid, **kwargs)  # cause


def validate(model, loader):
    total, count = 0.0, 0
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            total += nn.functional.cross_entropy(model(x), y, reduction="sum").item()
            count += len(y)
    model.train()
    return total / count  # raises TS616 at total / count


torch.manual_seed(0)
x = torch.randn(200, 6)
data = TensorDataset(x, (x.sum(1) > 0).long())
train_loader, valid_loader = loaders(data)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for xb, yb in train_loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, validate(model, valid_loader))
