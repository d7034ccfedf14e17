"""A value function gathers with actions of the wrong rank."""

import random
from collections import deque

import torch
from torch import nn


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, state):
        return self.net(state)


memory = deque(maxlen=100)
for _ in range(50):
    memory.append((torch.randn(4), random.randrange(2), random.random(), torch.randn(4)))
q, target = QNet(), QNet()
optimizer = torch.optim.Adam(q.parameters())
for episode in range(3):
    states, actions, rewards, nexts = zip(*random.sample(memory, 16))
    actions = torch.tensor(actions)  # cause
    chosen = q(torch.stack(states)).gather(1, actions)  # raises TS108 at q(torch.stack(states)).gather(1, actions), cause
    with torch.no_grad():
        wanted = torch.tensor(rewards) + 0.9 * target(torch.stack(nexts)).max(1).values
    loss = nn.functional.smooth_l1_loss(chosen.squeeze(), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
