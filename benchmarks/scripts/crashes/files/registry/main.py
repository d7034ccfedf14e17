"""Models by name from a registry."""

import torch
from registry import create
from torch import nn

model = create("mixer", tokens=9, width=6)
opt = torch.optim.Adam(model.parameters())
for _ in range(2):
    loss = nn.functional.cross_entropy(model(torch.randn(2, 9, 6)), torch.tensor([0, 1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
