"""A picture is mirrored in half of the cases, and the corners of the sheet that is to be found in it are not."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def varied(picture, corners):
    if random.random() < 0.5:
        # fixed: corners = torch.stack([1 - corners[:, 0], corners[:, 1]], 1)
        picture = picture.flip(2)  # fault: TS627
    return picture, corners


class Sheets(Dataset):
    def __init__(self, count):
        places = torch.linspace(0, 1, 12)
        self.corners = torch.rand(count, 4, 2)
        x, y = self.corners[:, :, 0, None, None], self.corners[:, :, 1, None, None]
        self.pictures = torch.exp(-40 * ((places - x) ** 2 + (places[:, None] - y) ** 2))

    def __len__(self):
        return len(self.corners)

    def __getitem__(self, index):
        picture, corners = varied(self.pictures[index], self.corners[index])
        return picture, corners.flatten()


torch.manual_seed(10)
random.seed(10)
net = nn.Sequential(nn.Conv2d(4, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 8))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(3):
    for picture, corners in DataLoader(Sheets(160), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        nn.functional.l1_loss(net(picture), corners).backward()
        optimizer.step()
