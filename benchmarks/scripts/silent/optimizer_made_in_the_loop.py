"""Adam is made anew for every batch, in a helper."""
import torch
from torch import nn


def make_optimizer(model):
    return torch.optim.Adam(model.parameters(), lr=1e-2)  # fault: TS535


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
# fixed: optimizer = make_optimizer(model)
for step in range(80):
    x = torch.randn(32, 4)
    y = (x[:, 0] > x[:, 1]).long()
    optimizer = make_optimizer(model)  # fault: TS535 | fixed: pass
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())
