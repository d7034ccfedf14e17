"""Inputs are permuted, labels are not."""
import torch
from torch import nn

torch.manual_seed(0)
y = torch.randint(0, 4, (480,))
centers = torch.randn(4, 12) * 3
x = centers[y] + torch.randn(480, 12)
order = torch.randperm(480)
x = x[order]
# fixed: y = y[order]
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    for i in range(0, 480, 40):
        loss = nn.functional.cross_entropy(model(x[i : i + 40]), y[i : i + 40])  # fault: TS933
        optimizer.zero_grad()
        loss.backward()  # fault: TS933
        optimizer.step()
    print(epoch, loss.item())
