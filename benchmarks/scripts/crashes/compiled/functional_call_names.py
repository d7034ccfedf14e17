"""A step of meta-learning: the inner loop moves copies of the weights, the outer one goes through it."""

import torch
from torch import nn
from torch.func import functional_call, grad


class Regressor(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.hidden = nn.Linear(1, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))  # raises TS101/TS103 at self.hidden(x)


model = Regressor(16)  # cause
teacher = Regressor(24)  # cause
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def inner_loss(weights, x, y):
    return (functional_call(model, weights, (x,)) - y).pow(2).mean()


for step in range(4):
    outer = 0.0
    for task in range(3):
        x = torch.rand(10, 1)
        y = torch.sin(x * (task + 1))
        weights = {name: one.detach().clone() for name, one in model.named_parameters()}
        for name, one in teacher.named_parameters():
            if name == "hidden.weight":
                weights[name] = 0.9 * one.detach()  # cause
        gradients = grad(inner_loss)(weights, x, y)
        moved = {name: one - 0.1 * gradients[name] for name, one in weights.items()}
        outer = outer + inner_loss({**dict(model.named_parameters()), **{"out.bias": moved["out.bias"]}}, x, y)
    optimizer.zero_grad()
    outer.backward()
    optimizer.step()
