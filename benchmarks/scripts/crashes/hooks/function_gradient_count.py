"""A custom function returns one gradient for two inputs."""

import torch
from torch import nn


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):  # cause
        return grad * ctx.factor  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return Scale.apply(self.fc(x), 0.1)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(4, 3)).mean()
    opt.zero_grad()
    loss.backward()  # raises TS199 at loss.backward()
    opt.step()
