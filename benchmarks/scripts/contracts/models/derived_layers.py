"""Layers of the library with a forward of their own, and blocks that get such a layer from their caller."""

import torch
import torch.nn.functional as F
from torch import nn


class GroupNorm32(nn.GroupNorm):
    def forward(self, x):
        return super().forward(x.float()).type(x.dtype)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class Residual(nn.Linear):
    def forward(self, x):
        return super().forward(x) + x


class Normalised(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.body = nn.Sequential(GroupNorm32(groups, channels), nn.SiLU())

    def forward(self, x):
        return self.body(x)


class Block(nn.Module):
    def __init__(self, i, o, norm_layer, act):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(i, o, 3, padding=1), norm_layer(o), act())

    def forward(self, x):
        return self.body(x)


class Stages(nn.Module):
    def __init__(self, dim, depth, norm_layer=None, act=nn.ReLU):
        super().__init__()
        assert isinstance(depth, tuple)
        if norm_layer is None:
            norm_layer = nn.BatchNorm2d
        stages = []
        for count in depth:
            stages += [Block(dim, dim, norm_layer, act) for _ in range(count)]
            stages += [nn.Conv2d(dim, 2 * dim, 2, stride=2)]
            dim *= 2
        self.stages = nn.Sequential(*stages)

    def forward(self, x):
        return self.stages(x)


class Table(nn.Module):
    def __init__(self, rows, dim):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(torch.randn(rows, dim))

    def forward(self, tokens):
        return self.table(tokens)
