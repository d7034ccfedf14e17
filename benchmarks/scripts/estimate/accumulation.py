"""Gradients accumulated over four batches."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

dataset = TensorDataset(torch.randn(480, 3, 16, 16), torch.randint(0, 10, (480,)))
loader = DataLoader(dataset, batch_size=16, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 144, 10))
optimizer = torch.optim.Adadelta(model.parameters())
criterion = nn.CrossEntropyLoss()
accumulation_steps = 4

optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y) / accumulation_steps
    loss.backward()
    if (i + 1) % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
