"""Decorators and context managers around the step."""

import contextlib
import functools
import time

import torch
from torch import nn


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            print(f"{function.__name__}: {time.perf_counter() - began:.4f} s")

    return wrapper


@contextlib.contextmanager
def section(name):
    print(name)
    yield
    print("end of", name)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)
        self.k = nn.Linear(8, 4)  # cause

    def forward(self, x):
        with section("scores"):
            scores = torch.bmm(self.q(x), self.k(x).transpose(1, 2))  # raises TS101 at torch.bmm(self.q(x), self.k(x).transpose(1, 2))
        return scores.softmax(-1)


@timed
def step(net, opt, x):
    loss = net(x).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    step(net, opt, torch.randn(2, 5, 8))
