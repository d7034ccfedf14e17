"""Torchvision: boxes are written as a corner and a size, where a detector takes two corners."""

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models.detection import ssdlite320_mobilenet_v3_large


class Parcels(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, number):
        noise = torch.Generator().manual_seed(number)
        picture = torch.rand(3, 80, 80, generator=noise)
        boxes = []
        for left in (40, 56):
            w, h = 12, 16
            top = int(torch.randint(30, 60, (1,), generator=noise))
            boxes.append([left, top, w, h])  # cause
        return picture, {"boxes": torch.tensor(boxes).float(), "labels": torch.ones(2, dtype=torch.long)}


def train():
    torch.manual_seed(0)
    finder = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=2).train()
    opt = torch.optim.SGD(finder.parameters(), lr=0.001)
    for pictures, targets in DataLoader(Parcels(), 2, collate_fn=lambda rows: tuple(zip(*rows))):
        losses = finder(list(pictures), list(targets))  # raises TS199 at finder(list(pictures), list(targets))
        opt.zero_grad()
        sum(losses.values()).backward()
        opt.step()


train()
