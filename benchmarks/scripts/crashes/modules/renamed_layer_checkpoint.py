"""A layer was renamed since the checkpoint was written."""

import tempfile
from pathlib import Path

import torch
from torch import nn


class Old(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(8, 16)
        self.fc = nn.Linear(16, 2)

    def forward(self, x):
        return self.fc(torch.relu(self.backbone(x)))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(8, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)))


def resume(path, model):
    checkpoint = torch.load(path, weights_only=True)
    model.load_state_dict(checkpoint["model"])  # raises TS530 at model.load_state_dict(checkpoint["model"]), cause
    return checkpoint["epoch"]


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "last.pt"
    torch.save({"model": Old().state_dict(), "epoch": 3}, path)
    model = Classifier()
    start = resume(path, model)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(start, start + 2):
        loss = nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.randint(0, 2, (4,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
