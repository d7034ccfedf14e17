import math

import torch


def set_requires_grad(nets, requires_grad=False):
    if not isinstance(nets, list):
        nets = [nets]
    for net in nets:
        for param in net.parameters():
            param.requires_grad = requires_grad


def toy_moons(n):
    labels = torch.randint(0, 2, (n,))
    angle = torch.rand(n) * math.pi
    x = torch.where(labels == 0, angle.cos(), 1 - angle.cos())
    y = torch.where(labels == 0, angle.sin(), 0.5 - angle.sin())
    points = torch.stack([x, y], dim=1) + 0.05 * torch.randn(n, 2)
    return points, labels
