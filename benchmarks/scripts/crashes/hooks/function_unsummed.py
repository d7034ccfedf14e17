"""The gradient of a gain for each row is not summed over the row."""

import torch
from torch import nn
from torch.autograd import Function


class Gain(Function):
    @staticmethod
    def forward(ctx, rows, gain):
        ctx.save_for_backward(rows, gain)
        return rows * gain[:, None]

    @staticmethod
    def backward(ctx, grad):
        rows, gain = ctx.saved_tensors
        of_gain = grad * rows  # cause
        return grad * gain[:, None], of_gain


class Scaled(nn.Linear):
    def __init__(self, inside, outside):
        super().__init__(inside, outside)
        self.gain = nn.Parameter(torch.ones(outside))

    def forward(self, x):
        return nn.functional.linear(x, Gain.apply(self.weight, self.gain), self.bias)


net = Scaled(6, 9)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(4, 6)).square().mean()
    opt.zero_grad()
    loss.backward()  # raises TS199 at loss.backward()
    opt.step()
