"""Targets with a column of their own."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

X = torch.randn(90, 5)
y = torch.randint(0, 3, (90, 1))
loader = DataLoader(TensorDataset(X, y), batch_size=30)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(5, 3)

    def forward(self, x):
        return self.lin(x)


model = Model()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for xb, yb in loader:
        pred = model(xb)
        loss = criterion(pred, yb)  # raises TS113 at criterion(pred, yb), cause
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
