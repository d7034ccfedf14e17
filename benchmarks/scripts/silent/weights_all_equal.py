"""Constant initialisation: all units of a layer stay one."""
import torch
from torch import nn


def init(module):
    if isinstance(module, nn.Linear):
        nn.init.constant_(module.weight, 0.05)  # fault: TS943 | fixed: nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))  # fault: TS943
model.apply(init)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    x = torch.rand(32, 8)
    y = x[:, :4].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
