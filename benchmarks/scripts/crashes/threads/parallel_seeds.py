"""Hyperparameters are searched in threads; one of the widths does not divide among the heads."""

from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.inp = nn.Linear(5, width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)  # raises TS111 at nn.MultiheadAttention(width, heads, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.inp(x)
        return self.out(self.attn(h, h, h)[0]).mean(dim=1)


def train(width, heads=4):  # cause
    model = Model(width, heads)
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(3):
        loss = nn.functional.mse_loss(model(torch.randn(4, 6, 5)), torch.zeros(4, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return width, loss.item()


with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(train, width) for width in (8, 10, 16)]  # cause
    for future in as_completed(futures):
        print(*future.result())
