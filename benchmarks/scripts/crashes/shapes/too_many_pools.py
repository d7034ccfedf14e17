"""One pooling more than the picture stands."""

import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, depth=5):
        super().__init__()
        blocks, width = [], 1
        for level in range(depth):
            blocks += [nn.Conv2d(width, 4 * (level + 1), 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]  # cause
            width = 4 * (level + 1)
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.LazyLinear(2)

    def forward(self, x):
        return self.head(self.blocks(x).flatten(1))  # raises TS112 at self.blocks(x)


net = Deep()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    out = net(torch.randn(3, 1, 28, 28))  # cause
    loss = out.square().mean()
    loss.backward()
    optimizer.step()
