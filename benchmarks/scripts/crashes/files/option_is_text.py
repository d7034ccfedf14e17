"""A number from the command line is a text, for lack of a type."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", default=32, type=int)
parser.add_argument("--heads")  # cause
parser.add_argument("--steps", default=3, type=int)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads  # raises TS825 at width // heads
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)
        return nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c)


args = parser.parse_args(["--heads", "4"])
model = nn.Sequential(Attention(args.width, args.heads), nn.Linear(args.width, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(args.steps):
    loss = model(torch.randn(2, 6, args.width)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
