"""A gradient hook that returns a gradient of another shape."""

import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)
        self.mask = torch.ones(6, 3)  # cause
        self.fc.weight.register_hook(self.prune)

    def prune(self, grad):
        return grad * self.mask  # raises TS103 at grad * self.mask, cause

    def forward(self, x):
        return self.fc(x)


model = Masked()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(4, 6)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
