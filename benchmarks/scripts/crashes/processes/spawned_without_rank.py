"""A function that spawn() starts has no place for its rank."""

import torch
import torch.multiprocessing as mp
from torch import nn


def tune(rate, rounds):  # cause
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(rounds):
        loss = net(torch.randn(8, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


class Search:
    def __init__(self, rate, rounds):
        self.rate, self.rounds = rate, rounds

    def run(self):
        mp.spawn(tune, args=(self.rate, self.rounds), nprocs=1)  # raises TS820 at mp.spawn(tune, args=(self.rate, self.rounds), nprocs=1)


if __name__ == "__main__":
    Search(0.1, 2).run()
