"""Adam with lr=1: the weights are thrown about."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3.0)  # fault: TS927 | fixed: optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
losses = []
for step in range(120):
    x = torch.randn(32, 6)
    y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(sum(losses[-20:]) / 20)
