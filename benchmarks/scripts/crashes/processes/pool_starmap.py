"""A grid of settings in a pool."""

import multiprocessing as mp

import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self, width, kernel):
        super().__init__()
        self.conv = nn.Conv1d(1, width, kernel)
        self.fc = nn.Linear(width * (20 - 3 + 1), 1)  # cause

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))  # raises TS101 at self.fc(self.conv(x).flatten(1))


def run(width, kernel):
    torch.set_num_threads(1)
    net = Conv(width, kernel)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(2):
        opt.zero_grad()
        net(torch.randn(4, 1, 20)).mean().backward()
        opt.step()
    return width


if __name__ == "__main__":
    with mp.get_context("fork").Pool(2) as pool:
        print(pool.starmap(run, [(2, 3), (4, 3), (4, 5)]))  # cause
