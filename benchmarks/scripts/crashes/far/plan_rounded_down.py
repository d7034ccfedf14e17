"""Ratings with a schedule for as many updates as a plan counts, each of two batches."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Plan:
    def __init__(self, rows, size, each):
        self.updates = -(-rows // size) // each  # cause

    def whole(self, epochs):
        return self.updates * epochs


rows = TensorDataset(torch.randn(100, 4), torch.randn(100))
loader, each, epochs = DataLoader(rows, 20, shuffle=True), 2, 3
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=Plan(100, 20, each).whole(epochs))
for epoch in range(epochs):
    for number, (x, y) in enumerate(loader, 1):
        loss = (net(x)[:, 0] - y).pow(2).mean() / each
        loss.backward()
        if number % each == 0 or number == len(loader):
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()  # raises TS527 at schedule.step()
    print(loss.item())
