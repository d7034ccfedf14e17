"""A small U-Net on pictures of which 1 % is foreground: it calls everything background."""
import argparse

import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down, self.mid = block(1, width), block(width, 2 * width)
        self.up, self.head = block(3 * width, width), nn.Conv2d(width, 2, 1)

    def forward(self, picture):
        high = self.down(picture)
        low = self.mid(nn.functional.max_pool2d(high, 2))
        joined = torch.cat([high, nn.functional.interpolate(low, scale_factor=2)], dim=1)
        return self.head(self.up(joined))


def scenes(n, generator):
    noise = torch.randn(n, 1, 24, 24, generator=generator)
    mask = torch.zeros(n, 24, 24, dtype=torch.long)
    for k in range(n):
        r, c = torch.randint(0, 22, (2,), generator=generator).tolist()
        mask[k, r : r + 2, c : c + 2] = 1
    return noise + 0.6 * mask[:, None], mask


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--width", type=int, default=6)
    args = parser.parse_args()
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(5)
    net = TinyUNet(args.width)
    weight = None  # fault: TS941 | fixed: weight = torch.tensor([1.0, 60.0])
    criterion = nn.CrossEntropyLoss(weight=weight)  # fault: TS941
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    schedule = OneCycleLR(optimizer, 1e-2, total_steps=args.steps)
    for step in range(args.steps):
        picture, mask = scenes(16, generator)
        out = net(picture)
        loss = criterion(out, mask)  # fault: TS941
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 10 == 0:
            right = (out.argmax(1) == mask).float().mean()
            print(step, f"{loss.item():.4f} pixel accuracy {right:.3%}")


main()
