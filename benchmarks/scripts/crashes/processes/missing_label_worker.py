"""Annotations in workers: some of the pictures have no box."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BOXES = {0: [[0.1, 0.1, 0.5, 0.5]], 1: [[0.2, 0.3, 0.4, 0.9], [0.0, 0.0, 1.0, 1.0]], 2: None}  # cause


class Detection(Dataset):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        image = torch.rand(3, 8, 8)
        boxes = torch.tensor(BOXES[index % 3]).float()  # raises TS199 at torch.tensor(BOXES[index % 3]), cause
        return image, boxes


def collate(samples):
    images, boxes = zip(*samples)
    return torch.stack(images), boxes


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.box = nn.Linear(6, 4)

    def forward(self, x):
        return self.box(self.conv(x).mean(dim=(2, 3)))


if __name__ == "__main__":
    model = Detector()
    optimizer = torch.optim.Adam(model.parameters())
    for images, boxes in DataLoader(Detection(), batch_size=3, num_workers=2, collate_fn=collate):
        out = model(images)
        loss = sum((o - b).abs().mean() for o, b in zip(out, boxes) if len(b))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
