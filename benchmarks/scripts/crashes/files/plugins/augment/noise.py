import torch


def apply(x, y):
    return x + 0.01 * torch.randn_like(x), y
