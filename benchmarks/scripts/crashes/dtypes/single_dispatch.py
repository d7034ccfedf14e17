"""Inputs of several kinds are made tensors by a function of one argument's type."""

from functools import singledispatch

import numpy as np
import torch
from torch import nn


@singledispatch
def to_tensor(value):
    raise TypeError(type(value))


@to_tensor.register
def _(value: torch.Tensor):
    return value


@to_tensor.register
def _(value: np.ndarray):
    return torch.from_numpy(value)  # cause


@to_tensor.register
def _(value: list):
    return torch.tensor(value)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rows = [torch.randn(2, 3), [[0.1, 0.2, 0.3]], np.random.rand(2, 3)]  # cause
for row in rows:
    loss = model(to_tensor(row)).pow(2).mean()  # raises TS301 at model(to_tensor(row)), cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
