"""A U-Net for segmentation, with its skip connections."""

import torch
import torch.nn as nn


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, channels=(16, 32, 64)):
        super().__init__()
        self.downs = nn.ModuleList()
        self.ups = nn.ModuleList()
        self.pool = nn.MaxPool2d(2)
        cin = 3
        for c in channels:
            self.downs.append(double_conv(cin, c))
            cin = c
        self.bottom = double_conv(channels[-1], channels[-1] * 2)
        for c in reversed(channels):
            self.ups.append(nn.ConvTranspose2d(c * 2, c, 2, stride=2))
            self.ups.append(double_conv(c * 2, c))
        self.head = nn.Conv2d(channels[0], 1, 1)

    def forward(self, x):
        skips = []
        for down in self.downs:
            x = down(x)
            skips.append(x)
            x = self.pool(x)
        x = self.bottom(x)
        for i in range(0, len(self.ups), 2):
            x = self.ups[i](x)
            skip = skips.pop()
            x = self.ups[i + 1](torch.cat([skip, x], dim=1))
        return self.head(x)


model = UNet()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4, momentum=0.9)
loss_fn = nn.BCEWithLogitsLoss()
model.train()
for step in range(3):
    image = torch.rand(4, 3, 64, 64)
    mask = (torch.rand(4, 1, 64, 64) > 0.5).float()
    pred = model(image)
    loss = loss_fn(pred, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
