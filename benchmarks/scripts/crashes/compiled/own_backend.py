"""A backend of the script's own counts the operators before it runs the graph."""

import torch
from torch import nn


def counting(module, inputs):
    shapes = [tuple(value.shape) for value in inputs if isinstance(value, torch.Tensor)]
    widths = torch.tensor([[size for size in shape] for shape in shapes])  # raises TS199/TS601/TS602/TS823 at torch.tensor([[size for size in shape] for shape in shapes]), cause
    print("inputs", widths.shape)
    return module.forward


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))
compiled = torch.compile(model, backend=counting)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    loss = nn.functional.cross_entropy(compiled(torch.randn(8, 6)), torch.arange(8) % 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
