"""Batches are prepared by asyncio in a thread."""

import asyncio

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 4)
        self.fc = nn.Linear(4, 1)

    def forward(self, ids):
        return self.fc(self.emb(ids).mean(1))  # raises TS310 at self.emb(ids)


def prepare(step):
    return torch.full((2, 3), 4 * step + 3)  # cause


async def main():
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        ids = await asyncio.to_thread(prepare, step)
        opt.zero_grad()
        net(ids).sum().backward()
        opt.step()


asyncio.run(main())
