"""Fine-tuning on each fold from a checkpoint of another number of classes."""

import io

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(20, 32), nn.ReLU())
        self.fc = nn.Linear(32, num_classes)

    def forward(self, x):
        return self.fc(self.stem(x))


def pretrained():
    buffer = io.BytesIO()
    torch.save({"model": Backbone(num_classes=100).state_dict(), "epoch": 3}, buffer)
    buffer.seek(0)
    return buffer


def build(num_classes):
    model = Backbone(num_classes=num_classes)
    checkpoint = torch.load(pretrained(), map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model"])  # raises TS530 at model.load_state_dict(checkpoint["model"]), cause
    return model


x, y = torch.randn(30, 20), torch.randint(0, 7, (30,))
for fold in range(3):
    model = build(num_classes=7)  # cause
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
