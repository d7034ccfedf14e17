"""An einsum whose letters stand for two sizes."""

import torch
from torch import nn


class Bilinear(nn.Module):
    def __init__(self, left, right, out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, right, left))  # cause

    def forward(self, a, b):
        return torch.einsum("bi,oij,bj->bo", a, self.weight, b)  # raises TS101 at torch.einsum("bi,oij,bj->bo", a, self.weight, b), cause


layer = Bilinear(6, 9, 4)
sgd = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(2):
    loss = layer(torch.randn(5, 6), torch.randn(5, 9)).pow(2).sum()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
