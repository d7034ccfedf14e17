"""An episode of one step has no spread of its rewards."""

import torch
from torch import nn
from torch.distributions import Categorical


class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 2)

    def steer(self, seen):
        choice = Categorical(logits=self.net(seen))  # raises TS199 at Categorical(logits=self.net(seen))
        turn = choice.sample()
        return choice.log_prob(turn)


def scaled(rewards):
    return (rewards - rewards.mean()) / rewards.std()  # cause


torch.manual_seed(1)
pilot = Pilot()
opt = torch.optim.SGD(pilot.parameters(), lr=0.05)
for length in (4, 3, 1, 5):
    logs = torch.stack([pilot.steer(torch.randn(3)) for _ in range(length)])
    loss = -(logs * scaled(torch.rand(length))).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
