import torch
from torch import nn


class Fusion(nn.Module):
    def __init__(self, image_width, table_width):
        super().__init__()
        self.image = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, image_width),
        )
        self.table = nn.BatchNorm1d(table_width)  # cause
        self.head = nn.Linear(image_width + table_width, 1)

    def forward(self, photo, row):
        both = torch.cat([self.image(photo), self.table(row)], dim=1)  # raises TS109 at self.table(row)
        return self.head(both).squeeze(1)
