"""A scripted cell fails in the interpreter of TorchScript."""

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.gate = nn.Linear(2 * size, size)

    def forward(self, x, h):
        joined = torch.cat([x, h], 1)
        return torch.sigmoid(self.gate(joined)) * h  # raises TS101 at self.gate(joined)


cell = torch.jit.script(Cell(4))
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for step in range(2):
    h = torch.zeros(3, 5)  # cause
    for t in range(4):
        h = cell(torch.randn(3, 4), h)
    opt.zero_grad()
    h.sum().backward()
    opt.step()
