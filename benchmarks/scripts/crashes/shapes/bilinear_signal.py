"""A signal is stretched with the mode of images."""

import torch
import torch.nn.functional as F
from torch import nn


class Up1d(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels // 2, 3, padding=1)

    def forward(self, x, skip):
        x = F.interpolate(self.conv(x), size=skip.shape[-1], mode="bilinear", align_corners=False)  # raises TS108 at F.interpolate(self.conv(x), size=skip.shape[-1], mode="bilinear", align_corners=False), cause
        return torch.cat([x, skip], dim=1)


up = Up1d(16)
for _ in range(2):
    out = up(torch.randn(2, 16, 50), torch.randn(2, 8, 100))
    print(out.shape)
