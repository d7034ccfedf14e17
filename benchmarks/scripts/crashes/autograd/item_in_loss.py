"""The loss is made of numbers."""

import torch
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 12)
        self.a = nn.Linear(12, 1)
        self.b = nn.Linear(12, 1)

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return self.a(h), self.b(h)


model = TwoHeads()
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    x = torch.randn(8, 6)
    a, b = model(x)
    total = torch.tensor(0.0)
    for part in (a, b):
        total += nn.functional.mse_loss(part, x[:, :1]).item()  # cause
    opt.zero_grad()
    total.backward()  # raises TS401 at total.backward()
    opt.step()
