"""The results of a pool carry their graphs."""

import torch
import torch.multiprocessing as mp
from torch import nn


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 6), nn.Linear(6, 1)

    def forward(self, x):
        return self.two(torch.tanh(self.one(x)))

    def roughness(self):
        return sum(part.weight.square().sum() for part in (self.one, self.two))


def trial(seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    net = Field()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        loss = net(torch.randn(8, 3)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return {"seed": seed, "loss": loss.item(), "rough": net.roughness()}  # cause


if __name__ == "__main__":
    with mp.get_context("fork").Pool(1) as pool:
        rows = pool.map(trial, [1, 2])  # raises TS199 at pool.map(trial, [1, 2])
    print([row["loss"] for row in rows])
