"""Heads for several tasks in a dictionary."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(8, 32)
        self.heads = {}  # fault: TS511 | fixed: self.heads = nn.ModuleDict()
        for name, size in tasks.items():
            self.heads[name] = nn.Linear(32, size)

    def forward(self, x, task):
        return self.heads[task](F.relu(self.trunk(x)))


TASKS = {"parity": 2, "band": 3}
torch.manual_seed(0)
model = MultiTask(TASKS)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)  # fault: TS511
for step in range(100):
    total = 0.0
    for task, size in TASKS.items():
        x = torch.randn(32, 8)
        y = (x[:, 0] > 0).long() if task == "parity" else (x[:, 1] > -0.5).long() + (x[:, 1] > 0.5).long()
        total = total + F.cross_entropy(model(x, task), y)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
print(total.item())
