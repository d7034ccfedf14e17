"""More transitions are drawn than there are."""

import random
from collections import deque

import torch
from torch import nn


class Replay:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *transition):
        self.memory.append(transition)

    def sample(self, size):
        return [torch.stack(part) for part in zip(*random.sample(self.memory, size))]  # raises TS918 at random.sample(self.memory, size), cause


class Trainer:
    def __init__(self, batch=32):
        self.batch, self.replay = batch, Replay(1000)
        self.q = nn.Linear(4, 2)
        self.opt = torch.optim.Adam(self.q.parameters())

    def learn(self):
        state, reward = self.replay.sample(self.batch)
        loss = (self.q(state).max(1)[0] - reward).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


trainer = Trainer()
for step in range(100):
    trainer.replay.push(torch.randn(4), torch.tensor(1.0))
    trainer.learn()
