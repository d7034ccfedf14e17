import torch
from torch import nn
from torch.nn import functional as F


class Roofs(nn.Module):
    def __init__(self, levels, width=4):
        super().__init__()
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(levels))
        self.up = nn.ModuleList(nn.ConvTranspose2d(width, width, 2, stride=2) for _ in range(levels))
        self.join = nn.ModuleList(nn.Conv2d(2 * width, width, 1) for _ in range(levels))
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        x, before = self.first(x), []
        for layer in self.down:
            before.append(x)
            x = layer(F.max_pool2d(x, 2)).relu()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([up(x), before.pop()], 1)).relu()  # raises TS106 at torch.cat([up(x), before.pop()], 1)
        return self.out(x)
