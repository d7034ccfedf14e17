"""A custom function gets a transposed weight."""

import torch
from torch import nn


class Quantised(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, scale):
        ctx.save_for_backward(x, weight)
        q = (weight / scale).round()
        return (x @ q) * scale  # raises TS101 at x @ q, cause

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight.t(), x.t() @ grad, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 6))  # cause

    def forward(self, x):
        return Quantised.apply(x, self.weight, 0.1)  # cause


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(3, 6)).sum().backward()
    opt.step()
