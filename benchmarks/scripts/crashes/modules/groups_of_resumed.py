"""An optimizer with two groups takes up a state that was saved with one."""

import io

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 2))


def save():
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    buffer = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, buffer)
    buffer.seek(0)
    return buffer


def no_decay(model):
    plain = [p for p in model.parameters() if p.ndim < 2]
    heavy = [p for p in model.parameters() if p.ndim >= 2]
    return [{"params": heavy, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]


class Session:
    def __init__(self, source):
        self.model = build()
        self.optimizer = torch.optim.AdamW(no_decay(self.model), lr=1e-3)  # cause
        state = torch.load(source, weights_only=True)
        self.model.load_state_dict(state["model"])
        saved = state["optimizer"]
        self.optimizer.load_state_dict(saved)  # raises TS530 at self.optimizer.load_state_dict(saved)

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


session = Session(save())
for _ in range(3):
    print(session.step(torch.randn(8, 6), torch.randint(0, 2, (8,))))
