"""Several tasks with a head each; one of them is named otherwise in the data."""

import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, dim, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(dim, 32), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(32, size) for name, size in tasks.items()})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))  # raises TS918/TS821/TS531 at self.heads[task]


tasks = {"sentiment": 2, "topic": 8, "language": 5}  # cause
model = MultiTask(16, tasks)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
schedule = ["sentiment", "topic", "languages"]  # cause
sizes = {"sentiment": 2, "topic": 8, "languages": 5}
for step in range(6):
    task = schedule[step % len(schedule)]
    x, y = torch.randn(8, 16), torch.randint(0, sizes[task], (8,))
    loss = nn.functional.cross_entropy(model(x, task), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
