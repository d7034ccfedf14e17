"""All weights start at one value, so that all units of a layer stay the same."""
import torch
from torch import nn


def start(module):
    if isinstance(module, nn.Linear):
        nn.init.constant_(module.weight, 0.05)  # fault: TS943 | fixed: nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))  # fault: TS943
model.apply(start)  # fault: TS943
x = torch.randn(1200, 10)
y = (x[:, 0] > 0).long() * 2 + (x[:, 1] * x[:, 2] > 0).long()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for i in range(0, 1200, 40):
        logits = model(x[i : i + 40])
        loss = nn.functional.cross_entropy(logits, y[i : i + 40])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
