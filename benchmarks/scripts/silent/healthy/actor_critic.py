"""Q-learning with a soft target network, acting without gradients between the steps."""
import copy
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
online = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
memory, state = [], 0
for step in range(200):
    with torch.no_grad():
        values = online(nn.functional.one_hot(torch.tensor([state]), 8).float())
    action = random.randrange(2) if random.random() < 0.3 else int(values.argmax())
    following = max(0, min(7, state + (1 if action else -1)))
    memory.append((state, action, float(following == 7), following))
    state = 0 if following == 7 else following
    if len(memory) < 32:
        continue
    s, a, r, n = (torch.tensor(column) for column in zip(*random.sample(memory, 32)))
    q = online(nn.functional.one_hot(s, 8).float()).gather(1, a[:, None]).squeeze(1)
    with torch.no_grad():
        goal = r + 0.9 * target(nn.functional.one_hot(n, 8).float()).max(1).values
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for old, new in zip(target.parameters(), online.parameters()):
            old.lerp_(new, 0.01)
print(loss.item())
