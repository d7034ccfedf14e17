"""A custom function returns a gradient of the wrong shape."""

import torch
from torch import nn


class Mean(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.n = x.shape[1]
        return x.mean(1)

    @staticmethod
    def backward(ctx, grad):
        return grad / ctx.n  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 5)

    def forward(self, x):
        return Mean.apply(self.fc(x))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(4, 3)).sum()
    opt.zero_grad()
    loss.backward()  # raises TS199 at loss.backward()
    opt.step()
