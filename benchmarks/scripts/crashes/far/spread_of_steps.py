"""Steps of a walker are drawn around what a network says, with a spread that may be below zero."""
import torch
from torch import nn
from torch.distributions import Normal


class Walker(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 4))

    def forward(self, seen):
        where, far = self.body(seen).split(2, dim=1)
        return where, far  # cause


def walk(walker, steps=3):
    seen, told = torch.zeros(6, 3), []
    for _ in range(steps):
        where, far = walker(seen)
        dist = Normal(where, far)  # raises TS314 at Normal(where, far)
        step = dist.sample()
        told.append(dist.log_prob(step).sum(1))
        seen = torch.cat([seen[:, :1], step], 1)
    return -torch.stack(told).mean()


torch.manual_seed(0)
walker = Walker()
opt = torch.optim.SGD(walker.parameters(), lr=0.1)
for _ in range(2):
    loss = walk(walker)
    opt.zero_grad()
    loss.backward()
    opt.step()
