"""The decoder of a U-Net takes one step more than it has skip connections."""

import torch
from torch import nn
from torch.nn import functional as F


class UNet(nn.Module):
    def __init__(self, widths=(8, 16, 32)):
        super().__init__()
        sizes = (3, *widths)
        self.down = nn.ModuleList(nn.Conv2d(i, o, 3, padding=1) for i, o in zip(sizes, sizes[1:]))
        self.up = nn.ModuleList(nn.Conv2d(o + i, i, 3, padding=1) for i, o in zip(widths[-2::-1], widths[::-1]))
        self.out = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x):
        skips = []
        for layer in self.down:
            x = F.relu(layer(x))
            skips.append(x)
            x = F.max_pool2d(x, 2)
        skips.reverse()
        x = skips[0]
        for step in range(len(skips)):  # cause
            skip = skips[step + 1]  # raises TS825 at skips[step + 1], cause
            x = F.interpolate(x, size=skip.shape[-2:])
            x = F.relu(self.up[step](torch.cat([x, skip], dim=1)))
        return self.out(x)


torch.manual_seed(0)
net = UNet()
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    image = torch.rand(2, 3, 32, 32)
    loss = F.binary_cross_entropy_with_logits(net(image), (image.mean(1, keepdim=True) > 0.5).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
