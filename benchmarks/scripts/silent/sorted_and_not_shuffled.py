"""Samples sorted by class, batches of one class each."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
parts = [torch.randn(120, 5) + 2 * k for k in range(4)]
x = torch.cat(parts)
y = torch.arange(4).repeat_interleave(120)
loader = DataLoader(TensorDataset(x, y), batch_size=40)  # fault: TS604 | fixed: loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
