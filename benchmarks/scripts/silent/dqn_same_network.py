"""A DQN whose target network is the network itself."""
import copy
import random
from collections import deque

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
target = q  # fault: TS540 | fixed: target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = deque(maxlen=500)
state = torch.zeros(3)


def act(s, step):
    if random.random() < max(0.1, 1 - step / 200):
        return random.randrange(2)
    with torch.no_grad():
        return q(s).argmax().item()


for step in range(300):
    action = act(state, step)
    following = (state + torch.tensor([0.1, -0.1, 0.0]) * (1 if action else -1)).clamp(-1, 1)
    reward = float(following[0] > 0.5)
    memory.append((state, action, reward, following))
    state = following if random.random() > 0.05 else torch.zeros(3)
    if len(memory) < 32:
        continue
    s, a, r, n = zip(*random.sample(memory, 32))
    s, n, a, r = torch.stack(s), torch.stack(n), torch.tensor(a), torch.tensor(r)
    with torch.no_grad():
        goal = r + 0.9 * target(n).max(1).values  # fault: TS540
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a[:, None]).squeeze(1), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        target.load_state_dict(q.state_dict())  # fault: TS540
    if step % 100 == 0:
        print(step, loss.item())
