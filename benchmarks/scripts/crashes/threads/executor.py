"""An ensemble in a pool of threads."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


class Member(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(16, 1))  # cause

    def forward(self, x):
        return self.net(x)  # raises TS101 at self.net(x)


def train(hidden):
    member = Member(hidden)
    opt = torch.optim.Adam(member.parameters())
    for _ in range(2):
        loss = member(torch.randn(4, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(train, hidden) for hidden in (16, 8)]  # cause
    for future in futures:
        print(future.result())
