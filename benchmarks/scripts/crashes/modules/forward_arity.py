"""The mask is given twice."""

import torch
from torch import nn


class Pooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):  # cause
        return self.fc(x).mean(1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = Pooler()
        self.out = nn.Linear(4, 1)

    def forward(self, x, mask):
        return self.out(self.pool(x, mask))  # raises TS820 at self.pool(x, mask), cause


model = Model()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = model(torch.randn(2, 3, 4), torch.ones(2, 3)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
