"""Modules that get another module, a list of modules or an activation from the code that makes them."""

import torch.nn as nn
import torch.nn.functional as F


class PreNorm(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fn = fn

    def forward(self, x):
        return self.fn(self.norm(x))


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, activation="gelu"):
        super().__init__()
        self.first = nn.Linear(dim, hidden_dim)
        self.second = nn.Linear(hidden_dim, dim)
        self.activation = F.relu if activation == "relu" else F.gelu

    def forward(self, x):
        return self.second(self.activation(self.first(x)))


class Stack(nn.Module):
    def __init__(self, layers, norm=None):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x if self.norm is None else self.norm(x)


class Encoder(nn.Module):
    def __init__(self, dim, depth, mlp_dim):
        super().__init__()
        layers = [PreNorm(dim, FeedForward(dim, mlp_dim)) for _ in range(depth)]
        self.stack = Stack(layers, norm=nn.LayerNorm(dim))

    def forward(self, x):
        b, n, _ = x.shape
        return self.stack(x)


class Widened(nn.Module):
    def __init__(self, block, channels):
        super().__init__()
        self.block = block
        self.channels = channels

    def forward(self, x):
        return self.block(x).view(x.size(0), self.channels, -1)


def widened(width, channels):
    return Widened(nn.Conv2d(width, 2 * channels, 3), channels)
