"""Trains on records."""

import torch
from engine import Trainer
from torch import nn
from torch.utils.data import DataLoader

records = [{"x": torch.randn(5), "y": i % 3} for i in range(24)]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 3)

    def forward(self, x):
        return self.fc(x)


model = Net()
Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1)).fit(DataLoader(records, batch_size=8), epochs=2)
