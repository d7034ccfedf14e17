"""A schedule from a configuration is given the model's parameters instead of an optimizer."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        return self.body(x)


def build(model, config):
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(model.parameters(), T_max=config["epochs"])  # raises TS815 at torch.optim.lr_scheduler.CosineAnnealingLR(model.parameters(), T_max=config["epochs"]), cause
    return optimizer, scheduler


for seed in range(2):
    torch.manual_seed(seed)
    model = Net()
    optimizer, scheduler = build(model, {"lr": 1e-3, "epochs": 3})
    for epoch in range(3):
        x, y = torch.randn(10, 4), torch.randint(0, 2, (10,))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
