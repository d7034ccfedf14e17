"""Cracks in concrete, found by a small U-Net."""
import torch
from torch import nn
import torch.nn.functional as F


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU())


class Cracks(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.one, self.two, self.three = block(1, width), block(width, 2 * width), block(2 * width, 2 * width)
        self.merge2, self.merge1 = block(4 * width, width), block(2 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        a = self.one(x)
        b = self.two(F.max_pool2d(a, 2))
        c = self.three(F.max_pool2d(b, 2))
        up = F.interpolate(c, scale_factor=2)  # cause
        up = self.merge2(torch.cat([up, b], 1))  # raises TS106 at torch.cat([up, b], 1)
        up = F.interpolate(up, scale_factor=2)
        return self.out(self.merge1(torch.cat([up, a], 1)))


class Photos(torch.utils.data.Dataset):
    def __init__(self, n, side):
        self.x = torch.rand(n, 1, side, side)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], (self.x[i] > 0.7).float()


def main(side=44 + 6):
    torch.manual_seed(3)
    loader = torch.utils.data.DataLoader(Photos(8, side), 4)
    net = Cracks()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for x, y in loader:
        loss = F.binary_cross_entropy_with_logits(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()
