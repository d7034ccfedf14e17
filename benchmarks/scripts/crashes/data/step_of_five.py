"""step() gives five values, and four are taken."""

import numpy as np
import torch
from torch import nn


class Env:
    """The interface of gymnasium."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def reset(self, seed=None):
        return self.rng.standard_normal(4).astype(np.float32), {}

    def step(self, action):
        return self.rng.standard_normal(4).astype(np.float32), 1.0, self.rng.random() < 0.1, False, {}


policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
env = Env()
for episode in range(3):
    state, _ = env.reset()
    done, rewards = False, []
    while not done:
        logits = policy(torch.from_numpy(state))
        action = torch.distributions.Categorical(logits=logits).sample()
        state, reward, done, _ = env.step(action.item())  # raises TS115 at state, reward, done, _, cause
        rewards.append(reward)
    print(sum(rewards))
