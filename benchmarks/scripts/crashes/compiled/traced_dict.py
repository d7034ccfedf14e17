"""A model with a dictionary of outputs is traced for deployment after each epoch."""

import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, 16), nn.ReLU())
        self.heads = nn.ModuleDict({"age": nn.Linear(16, 1), "kind": nn.Linear(16, 3)})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


def export(model, example):
    model.eval()
    traced = torch.jit.trace(model, example)  # raises TS199 at torch.jit.trace(model, example), cause
    model.train()
    return traced


model = MultiTask()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for _ in range(3):
        x, age, kind = torch.randn(6, 8), torch.rand(6, 1), torch.randint(0, 3, (6,))
        out = model(x)
        loss = nn.functional.mse_loss(out["age"], age) + nn.functional.cross_entropy(out["kind"], kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(sorted(export(model, torch.randn(1, 8))(torch.randn(2, 8))))
