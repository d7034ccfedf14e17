"""The noise that is optimised was moved after requires_grad."""

import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def forward(self, z):
        return self.fc(z)


generator = Generator()
z = torch.randn(1, 4, requires_grad=True) * 0.1  # cause
optimizer = torch.optim.Adam([z], lr=0.01)  # raises TS413 at torch.optim.Adam([z], lr=0.01)
for _ in range(3):
    loss = (generator(z) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
