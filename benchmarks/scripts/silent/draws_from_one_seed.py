"""Each batch is drawn by a generator that has just been seeded."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(2000, 10)
y = (x[:, 0] > 0).long()


def batch(size):
    g = torch.Generator()
    g.manual_seed(17)  # fault: TS555 | fixed: pass
    return torch.randint(2000, (size,), generator=g)  # fixed: return torch.randint(2000, (size,))


model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(80):
    part = batch(40)
    loss = nn.functional.cross_entropy(model(x[part]), y[part])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
