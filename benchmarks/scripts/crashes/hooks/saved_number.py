"""A custom Function saves a number as if it were a tensor."""

import torch
from torch import nn


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)  # cause
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        x, factor = ctx.saved_tensors
        return grad * factor, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        return Scale.apply(self.fc(x), 0.5)  # raises TS199 at Scale.apply(self.fc(x), 0.5)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    loss = net(torch.randn(2, 5)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
