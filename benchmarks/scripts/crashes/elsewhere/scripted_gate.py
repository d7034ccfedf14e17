"""A scripted highway layer that multiplies gates of another width."""

import torch
from torch import nn


class Highway(nn.Module):
    def __init__(self, dim: int, gates: int):
        super().__init__()
        self.transform = nn.Linear(dim, dim)
        self.gate = nn.Linear(dim, gates)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        t = torch.sigmoid(self.gate(x))
        h = torch.relu(self.transform(x))
        return t * h + (1 - t) * x  # raises TS103 at t * h


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.highway = torch.jit.script(Highway(20, 10))  # cause
        self.out = nn.Linear(20, 2)

    def forward(self, x):
        return self.out(self.highway(x))


model = Net()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    x, y = torch.randn(5, 20), torch.randint(0, 2, (5,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
