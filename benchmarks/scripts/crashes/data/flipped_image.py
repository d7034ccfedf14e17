"""Pictures as arrays; half of them are mirrored."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, size, augment):
        self.pixels = np.random.default_rng(0).integers(0, 256, (size, 16, 16, 3), dtype=np.uint8)
        self.augment = augment

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        picture = self.pixels[index]
        if self.augment and index % 2:
            picture = picture[:, ::-1]  # cause
        tensor = torch.from_numpy(picture).permute(2, 0, 1).float() / 255  # raises TS815/TS199/TS617 at torch.from_numpy(picture), cause
        return tensor, index % 2


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 49, 2))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    for x, y in DataLoader(Pictures(40, augment=True), batch_size=8, num_workers=2):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
