"""masked_fill with a mask of numbers."""

import torch
from torch import nn


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)

    def forward(self, x, keep):
        scores = self.q(x) @ x.transpose(1, 2)
        scores = scores.masked_fill(1 - keep[:, None], float("-inf"))  # raises TS301 at scores.masked_fill(1 - keep[:, None], float("-inf")), cause
        return scores.softmax(-1) @ x


attend = Attend()
opt = torch.optim.SGD(attend.parameters(), lr=0.1)
for _ in range(2):
    keep = torch.tensor([[1.0, 1.0, 0.0]])
    loss = attend(torch.randn(1, 3, 4), keep).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
