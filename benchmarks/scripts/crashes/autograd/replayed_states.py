"""A recurrent state is kept with its graph, and replayed after steps of the optimizer."""

import random

import torch
from torch import nn

random.seed(1)
cell = nn.GRUCell(3, 8)
value = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *value.parameters()])
memory = []
state = torch.zeros(1, 8)
for step in range(40):
    observation = torch.randn(1, 3)
    memory.append((observation, state, random.random()))
    state = cell(observation, state)  # cause
    if len(memory) >= 16:
        batch = random.sample(memory, 8)
        observations = torch.cat([item[0] for item in batch])
        states = torch.cat([item[1] for item in batch])
        rewards = torch.tensor([[item[2]] for item in batch])
        loss = (value(cell(observations, states)) - rewards).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # raises TS403 at loss.backward()
        optimizer.step()
