"""Q-learning on a chain; the target network is the online one."""
import copy
import random

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
online = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
target = online  # fault: TS540 | fixed: target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
memory = []
state = 0
for step in range(300):
    action = random.randrange(2)
    following = max(0, min(7, state + (1 if action else -1)))
    memory.append((state, action, float(following == 7), following))
    state = 0 if following == 7 else following
    if len(memory) < 32:
        continue
    s, a, r, n = (torch.tensor(column) for column in zip(*random.sample(memory, 32)))
    hot = nn.functional.one_hot
    q = online(hot(s, 8).float()).gather(1, a[:, None]).squeeze(1)
    with torch.no_grad():
        goal = r + 0.9 * target(hot(n, 8).float()).max(1).values  # fault: TS540
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        target.load_state_dict(online.state_dict())
print(loss.item())
