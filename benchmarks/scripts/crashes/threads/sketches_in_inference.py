"""Waves are drawn by threads under inference mode, and a model is trained on them."""
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


def wave(seed, length):
    with torch.inference_mode():  # cause
        step = torch.arange(length) * (0.1 + seed % 5)
        return torch.stack([step.sin(), step.cos()], 1), step[:1].expand(2)


class Waves:
    def __init__(self, length, count):
        self.length, self.count = length, count
        self.pool = ThreadPoolExecutor(2)

    def __iter__(self):
        jobs = [self.pool.submit(wave, seed, self.length) for seed in range(self.count)]
        for job in jobs:
            yield job.result()


class Guess(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.out = nn.Linear(2, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.out(self.body(x).tanh()).mean(0)  # raises TS401 at self.body(x)


torch.manual_seed(0)
net = Guess()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, rate in Waves(9, 4):
    loss = (net(x) - rate).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
