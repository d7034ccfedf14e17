"""A linear function with setup_context; its backward multiplies by the weight the wrong way round."""

import torch
from torch import nn


class Project(torch.autograd.Function):
    @staticmethod
    def forward(x, weight):
        return x @ weight.T

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight.T, grad.T @ x  # raises TS101 at grad @ weight.T, cause


torch.manual_seed(0)
first, second = nn.Linear(4, 6), nn.Parameter(torch.randn(3, 6))
optimizer = torch.optim.SGD([*first.parameters(), second], lr=0.1)
for step in range(3):
    out = Project.apply(first(torch.randn(5, 4)), second)
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
