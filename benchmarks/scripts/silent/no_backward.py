"""Config in a dataclass, loss under a helper that forgets backward."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    width: int = 32
    lr: float = 1e-2
    steps: int = 100


def compute(model, x, y):
    out = model(x)
    return nn.functional.smooth_l1_loss(out, y)


def run(cfg):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, cfg.width), nn.GELU(), nn.Linear(cfg.width, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        x = torch.rand(64, 3)
        y = (x[:, :1] * x[:, 1:2] - x[:, 2:]).sin()
        optimizer.zero_grad()
        loss = compute(model, x, y)
        # fixed: loss.backward()
        optimizer.step()  # fault: TS502
        if step % 25 == 0:
            print(step, loss.item())


run(Config())
