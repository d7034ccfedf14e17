"""Accelerate: the loss is left for each sample."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.body(x)


accelerator = Accelerator(cpu=True)
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.randn(32, 8), torch.randint(0, 3, (32,))), batch_size=8)
criterion = nn.CrossEntropyLoss(reduction="none")  # cause
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for epoch in range(2):
    for x, y in loader:
        loss = criterion(model(x), y)
        accelerator.backward(loss)  # raises TS406 at accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
