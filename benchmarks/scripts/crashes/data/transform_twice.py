"""Pictures are permuted in the data set and once more in the collate function."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, n, transform=None):
        self.images = np.random.rand(n, 24, 32, 3).astype(np.float32)
        self.labels = np.arange(n) % 2
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.from_numpy(self.images[i]).permute(2, 0, 1)
        if self.transform is not None:
            image = self.transform(image)
        return image, int(self.labels[i])


def channels_first(image):
    return image.permute(2, 0, 1)


model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(Pictures(12, transform=channels_first), batch_size=4)  # cause
for epoch in range(2):
    for images, labels in loader:
        logits = model(images)  # raises TS102 at model(images)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
