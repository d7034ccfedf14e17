"""Random crops in loader workers; some images are smaller than the crop."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class RandomCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, image):
        _, h, w = image.shape
        top = torch.randint(0, h - self.size + 1, (1,)).item()  # raises TS199/TS918/TS815 at torch.randint(0, h - self.size + 1, (1,)), cause
        left = torch.randint(0, w - self.size + 1, (1,)).item()
        return image[:, top : top + self.size, left : left + self.size]


class Photos(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 32

    def __getitem__(self, index):
        side = 40 if index != 21 else 24  # cause
        image = torch.rand(3, side, side)
        return self.transform(image), index % 3


def main():
    dataset = Photos(RandomCrop(32))
    loader = DataLoader(dataset, batch_size=8, num_workers=2)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
