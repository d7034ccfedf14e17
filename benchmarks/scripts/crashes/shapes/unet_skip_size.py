"""A U-Net on pictures whose side is odd after one pooling."""

import torch
from torch import nn


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.mid = nn.Conv2d(8, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.head = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        skip = torch.relu(self.down(x))
        deep = torch.relu(self.mid(self.pool(skip)))
        up = self.up(deep)  # cause
        return self.head(torch.cat([skip, up], dim=1))  # raises TS106 at torch.cat([skip, up], dim=1), cause


net = TinyUNet()
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for _ in range(2):
    masks = torch.randint(0, 2, (2, 1, 25, 25)).float()
    loss = nn.functional.binary_cross_entropy_with_logits(net(torch.randn(2, 1, 25, 25)), masks)  # cause
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
