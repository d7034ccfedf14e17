"""A traced model is called with another size."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)  # raises TS101 at self.fc(x)


traced = torch.jit.trace(Net(), torch.randn(1, 4))
opt = torch.optim.SGD(traced.parameters(), lr=0.1)
for size in (4, 4, 5):  # cause
    x = torch.randn(3, size)  # cause
    opt.zero_grad()
    traced(x).sum().backward()  # raises TS101 at traced(x), cause
    opt.step()
