"""A hand-written step of descent makes a new tensor of a parameter."""

import torch


class Linear:
    def __init__(self, n):
        self.w = torch.randn(n, 1, requires_grad=True)
        self.b = torch.zeros(1, requires_grad=True)

    def __call__(self, x):
        return x @ self.w + self.b

    def update(self, lr):
        self.w = self.w - lr * self.w.grad  # raises TS411 at lr * self.w.grad, cause
        self.b = self.b - lr * self.b.grad


model = Linear(4)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
for epoch in range(5):
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    model.update(0.1)
