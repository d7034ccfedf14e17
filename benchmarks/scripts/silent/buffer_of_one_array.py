# The environment gives the same array each time, and the replay buffer keeps it a thousand times.
import random
from collections import deque

import numpy as np
import torch
from torch import nn


class Cart:
    def __init__(self):
        self.state = np.zeros(4, dtype=np.float32)
        self.rng = np.random.default_rng(0)

    def reset(self):
        self.state[:] = self.rng.normal(size=4)
        return self.state

    def step(self, action):
        self.state += 0.1 * self.rng.normal(size=4).astype(np.float32) + (0.05 if action else -0.05)
        return self.state, -float(np.abs(self.state).sum()), self.rng.random() < 0.05


random.seed(0)
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = deque(maxlen=1000)
env = Cart()
state = env.reset()
for step in range(300):
    action = random.randrange(2)
    following, reward, done = env.step(action)
    memory.append((state, action, reward, following, done))  # fixed: memory.append((state.copy(), action, reward, following.copy(), done))
    state = env.reset() if done else following
    if len(memory) >= 64:
        batch = random.sample(memory, 32)
        s = torch.tensor(np.stack([b[0] for b in batch]))
        a = torch.tensor([b[1] for b in batch])
        r = torch.tensor([b[2] for b in batch])
        n = torch.tensor(np.stack([b[3] for b in batch]))
        d = torch.tensor([float(b[4]) for b in batch])
        with torch.no_grad():
            target = r + 0.9 * (1 - d) * q(n).max(1).values
        value = q(s).gather(1, a[:, None]).squeeze(1)  # fault: TS931
        loss = nn.functional.smooth_l1_loss(value, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, loss.item())
