"""A process of its own for the actor; the script goes on without it."""

import torch
import torch.multiprocessing as mp
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, obs):
        return torch.distributions.Categorical(logits=self.fc(obs))  # raises TS101 at self.fc(obs)


def act(policy, steps):
    for step in range(steps):
        obs = torch.randn(4) if step < 2 else torch.randn(3)  # cause
        action = policy(obs).sample()
    return action


if __name__ == "__main__":
    policy = Policy()
    actor = mp.Process(target=act, args=(policy, 5))
    actor.start()
    actor.join()
    if actor.exitcode:
        raise SystemExit(actor.exitcode)
