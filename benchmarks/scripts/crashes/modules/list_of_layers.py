"""Layers in a plain list."""

import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(depth)]  # cause

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def main():
    stack = Stack(3)
    optimizer = torch.optim.Adam(stack.parameters(), lr=1e-3)  # raises TS511 at torch.optim.Adam(stack.parameters(), lr=1e-3)
    for _ in range(2):
        loss = stack(torch.randn(2, 4)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
