"""NumPy makes float64."""

import numpy as np
import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))  # raises TS301 at self.hidden(x)


xs = np.random.rand(50, 3)
ys = xs.sum(axis=1, keepdims=True)
data = torch.from_numpy(xs)  # cause
labels = torch.from_numpy(ys)
model = Regressor()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(5):
    loss = ((model(data) - labels) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
