"""The folder of the checkpoints is never made."""

import tempfile
from pathlib import Path

import torch
from torch import nn


class Checkpointer:
    def __init__(self, root):
        self.folder = Path(root) / "runs" / "exp1"
        self.best = float("inf")

    def __call__(self, model, value, epoch):
        if value < self.best:
            self.best = value
            state = {"model": model.state_dict(), "epoch": epoch}
            torch.save(state, self.folder / "best.pt")  # raises TS199 at torch.save(state, self.folder / "best.pt"), cause


with tempfile.TemporaryDirectory() as root:
    save = Checkpointer(root)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        x = torch.randn(16, 4)
        loss = (model(x).squeeze(1) - x.sum(1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        save(model, loss.item(), epoch)
