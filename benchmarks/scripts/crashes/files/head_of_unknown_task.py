"""A batch names a task for which no head was made."""
import torch
from torch import nn

TASKS = {"colour": 3, "shape": 4}

class Multi(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.body = nn.Linear(6, 16)
        self.heads = nn.ModuleDict({t: nn.Linear(16, n) for t, n in tasks.items()})

    def forward(self, x, task):
        return self.heads[task](self.body(x).relu())  # raises TS918 at self.heads[task]

net = Multi(TASKS)
opt = torch.optim.Adam(net.parameters())
batches = [("colour", 3), ("shape", 4), ("colors", 3)]  # cause
for task, n in batches:
    loss = nn.functional.cross_entropy(net(torch.randn(5, 6), task), torch.randint(0, n, (5,)))
    opt.zero_grad(); loss.backward(); opt.step()
