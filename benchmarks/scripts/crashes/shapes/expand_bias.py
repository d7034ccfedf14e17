"""A relative bias table of another window."""

import torch
from torch import nn


class Window(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(heads, size, size))

    def forward(self, scores):
        return (scores + self.bias.expand(scores.shape)).softmax(-1)  # raises TS103/TS104 at self.bias.expand(scores.shape)


layer = Window(7, 4)  # cause
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(2):
    loss = layer(torch.randn(2, 4, 8, 8)).pow(2).sum()  # cause
    opt.zero_grad()
    loss.backward()
    opt.step()
