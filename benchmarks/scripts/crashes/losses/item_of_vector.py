"""Weighted samples: the loss is kept per sample, and logged like a number."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 20)
        self.fc2 = nn.Linear(20, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def run_epoch(model, loader, criterion, optimizer):
    total_loss, total_correct, n = 0.0, 0, 0
    for x, y, weight in loader:
        logits = model(x)
        losses = criterion(logits, y)
        loss = (losses * weight).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += losses.item() * len(x)  # raises TS199 at losses.item(), cause
        total_correct += (logits.argmax(1) == y).sum().item()
        n += len(x)
    return total_loss / n, total_correct / n


model = Net()
criterion = nn.CrossEntropyLoss(reduction="none")  # cause
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
data = TensorDataset(torch.randn(48, 10), torch.randint(0, 3, (48,)), torch.rand(48))
for epoch in range(2):
    print(epoch, *run_epoch(model, DataLoader(data, batch_size=12, shuffle=True), criterion, optimizer))
