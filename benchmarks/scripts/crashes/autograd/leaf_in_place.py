"""Weights are reset without no_grad."""

import torch
from torch import nn


class Codebook(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(8, 4))

    def forward(self, x):
        return torch.cdist(x, self.table).min(1).values

    def normalise(self):
        self.table /= self.table.norm(dim=1, keepdim=True)  # raises TS404 at self.table /= self.table.norm(dim=1, keepdim=True), cause


book = Codebook()
opt = torch.optim.SGD(book.parameters(), lr=0.1)
for _ in range(2):
    loss = book(torch.randn(16, 4)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    book.normalise()
