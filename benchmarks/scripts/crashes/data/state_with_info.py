"""reset() gives a state and what belongs to it."""

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


class Agent:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def act(self, state):
        probs = torch.softmax(self.policy(torch.as_tensor(state)), dim=-1)  # raises TS199 at torch.as_tensor(state)
        return torch.multinomial(probs, 1).item()


env, agent = Env(), Agent()
for episode in range(3):
    state = env.reset()  # cause
    done = False
    while not done:
        action = agent.act(state)
        state, reward, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
