"""The first step throws all units of two layers off."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))  # fault: TS925
optimizer = torch.optim.SGD(model.parameters(), lr=3.0)  # fault: TS927/TS925 | fixed: optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(80):
    x = torch.randn(64, 10) + 1
    y = x.sum(1, keepdim=True)
    loss = nn.functional.mse_loss(model(x), y)  # fault: TS925
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
