"""Detection: boxes that are predicted are matched with those that are there, by their overlap."""

import torch
from torch import nn


def area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def overlap(predicted, true):
    """Intersection over union of each predicted with each true box."""
    top = torch.maximum(predicted[:, :2], true[:, :2])  # raises TS103 at torch.maximum(predicted[:, :2], true[:, :2]), cause
    bottom = torch.minimum(predicted[:, 2:], true[:, 2:])  # cause
    shared = (bottom - top).clamp(min=0).prod(-1)
    return shared / (area(predicted)[:, None] + area(true) - shared)


class Detector(nn.Module):
    def __init__(self, boxes=20):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 5, stride=4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(64), nn.ReLU())
        self.corner, self.size = nn.Linear(64, 2 * boxes), nn.Linear(64, 2 * boxes)

    def forward(self, image):
        h = self.features(image)
        corner = self.corner(h).view(len(image), -1, 2).sigmoid()
        return torch.cat([corner, corner + self.size(h).view_as(corner).sigmoid()], -1)


torch.manual_seed(0)
detector = Detector()
detector(torch.rand(1, 3, 32, 32))
optimizer = torch.optim.Adam(detector.parameters())
for step in range(3):
    images = torch.rand(4, 3, 32, 32)
    corners = torch.rand(4, 5, 2) / 2
    truth = torch.cat([corners, corners + 0.3], -1)
    loss = 0.0
    for predicted, true in zip(detector(images), truth):
        with torch.no_grad():
            best = overlap(predicted, true).argmax(0)
        loss = loss + (predicted[best] - true).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
