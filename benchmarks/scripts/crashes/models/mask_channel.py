"""Semantic segmentation; the masks keep their channel."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        image = torch.rand(3, 24, 24, generator=generator)
        mask = torch.randint(0, 5, (1, 24, 24), generator=generator)  # cause
        return image, mask


class FCN(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
        self.classifier = nn.Conv2d(16, classes, 1)
        self.criterion = nn.CrossEntropyLoss(ignore_index=255)

    def forward(self, x, target=None):
        out = self.classifier(self.features(x))
        if target is None:
            return out
        return self.criterion(out, target)  # raises TS113/TS108 at self.criterion(out, target), cause


def main():
    loader = DataLoader(Scenes(), batch_size=4)
    model = FCN(classes=5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(2):
        model.train()
        for image, mask in loader:
            loss = model(image, mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


main()
