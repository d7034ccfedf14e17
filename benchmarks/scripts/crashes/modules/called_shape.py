"""shape is called."""

import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        n = x.shape(1)  # raises TS815 at x.shape(1), cause
        return self.fc(x).sum(1) / n


pool = Pool()
opt = torch.optim.SGD(pool.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    pool(torch.randn(2, 3, 4)).sum().backward()
    opt.step()
