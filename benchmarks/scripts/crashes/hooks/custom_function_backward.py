"""A custom function returns the gradient of the weight untransposed."""

import torch
from torch import nn


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight.t(), grad.t() @ x  # raises TS101 at grad @ weight.t(), cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(5, 5)
        self.weight = nn.Parameter(torch.randn(3, 5))

    def forward(self, x):
        return LinearFunction.apply(self.embed(x), self.weight)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(4, 5)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
