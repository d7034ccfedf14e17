"""Regression: (N, 1) against (N,)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(256, 4)
y = 2 * x[:, 0] - x[:, 3]
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.MSELoss()
for epoch in range(6):
    running = 0.0
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        outputs = model(inputs)
        loss = criterion(outputs, targets)  # fault: TS114 | fixed: loss = criterion(outputs.squeeze(1), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(epoch, running)
