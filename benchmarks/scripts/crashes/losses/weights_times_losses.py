"""The weights of several losses are a list, and multiplied as if they were a number each."""

import torch
from torch import nn


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 12)
        self.a, self.b = nn.Linear(12, 1), nn.Linear(12, 3)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.a(h).squeeze(1), self.b(h)


class Criterion:
    def __init__(self, weights):
        self.weights = weights

    def __call__(self, outputs, targets):
        losses = torch.stack(
            [
                nn.functional.mse_loss(outputs[0], targets[0]),
                nn.functional.cross_entropy(outputs[1], targets[1]),
            ]
        )
        return (self.weights * losses).sum()  # raises TS199 at self.weights * losses


model, criterion = Multi(), Criterion([1.0, 0.5])  # cause
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    x = torch.randn(10, 6)
    loss = criterion(model(x), (x.sum(1), torch.randint(0, 3, (10,))))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
