"""Binarised weights: the forward pass takes the sign, the backward pass lets gradients through."""

import torch
from torch import nn


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight):
        return weight.sign()

    @staticmethod
    def backward(ctx, grad):
        return grad.clamp(-1, 1)


class BinaryLinear(nn.Linear):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.binarise = Sign()  # cause

    def forward(self, x):
        return nn.functional.linear(x, self.binarise(self.weight), self.bias)  # raises TS820/TS815/TS824/TS199 at self.binarise(self.weight), cause


torch.manual_seed(0)
net = nn.Sequential(BinaryLinear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), BinaryLinear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for _ in range(5):
        x = torch.randn(16, 12)
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
