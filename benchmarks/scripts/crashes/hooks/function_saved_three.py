"""A smooth clamp with a gradient of its own: its bounds may be learnt."""

import torch
from torch import nn


class SoftClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x, low)  # cause
        return torch.maximum(torch.minimum(x, high), low)

    @staticmethod
    def backward(ctx, grad):
        x, low, high = ctx.saved_tensors  # raises TS115 at ctx.saved_tensors or x, low, high, cause
        inside = (x > low) & (x < high)
        return grad * inside, (grad * (x <= low)).sum(), (grad * (x >= high)).sum()


class Bounded(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.low, self.high = nn.Parameter(torch.tensor(-1.0)), nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return SoftClamp.apply(self.layer(x), self.low, self.high)


torch.manual_seed(0)
model = nn.Sequential(Bounded(8), Bounded(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(5):
    x = torch.randn(32, 8)
    loss = (model(x).squeeze(1) - x.sum(1).tanh()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
