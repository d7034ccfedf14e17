"""The hidden state is carried from batch to batch with its graph."""

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 6, batch_first=True)
        self.head = nn.Linear(6, 1)

    def forward(self, x, h):
        out, h = self.rnn(x, h)
        return self.head(out), h


cell = Cell()
optimizer = torch.optim.Adam(cell.parameters())
h = torch.zeros(1, 2, 6)
for step in range(4):
    x = torch.randn(2, 5, 3)
    pred, h = cell(x, h)  # cause
    loss = (pred.squeeze(-1) - x.sum(-1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # raises TS405 at loss.backward()
    optimizer.step()
