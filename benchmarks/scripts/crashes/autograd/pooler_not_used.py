"""Gradients of all parameters are asked for, and one layer's result is not used."""
import torch
from torch import nn
from torch.func import functional_call


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.pool, self.head = nn.Linear(4, 6), nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x):
        h = self.body(x).relu()
        pooled = self.pool(h).tanh()
        return self.head(h), pooled


def adapt(net, weights, x, y):
    loss = nn.functional.cross_entropy(functional_call(net, weights, (x,))[0], y)
    grads = torch.autograd.grad(loss, list(weights.values()))  # raises TS411 at torch.autograd.grad(loss, list(weights.values())), cause
    return {name: w - 0.1 * g for (name, w), g in zip(weights.items(), grads)}


net = Net()
for _ in range(2):
    fast = adapt(net, dict(net.named_parameters()), torch.randn(6, 4), torch.randint(0, 2, (6,)))
    functional_call(net, fast, (torch.randn(3, 4),))[0].mean().backward()
