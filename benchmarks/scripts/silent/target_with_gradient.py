# The value of the next state, which is to be a target, is trained as well.
import random
from collections import deque, namedtuple

import torch
from torch import nn

Transition = namedtuple("Transition", "state action reward following done")
random.seed(0)
torch.manual_seed(0)


class Line:
    def __init__(self):
        self.x = 0.0

    def reset(self):
        self.x = random.uniform(-1, 1)
        return torch.tensor([self.x, 1.0])

    def step(self, action):
        self.x += 0.2 if action else -0.2
        return torch.tensor([self.x, 1.0]), -abs(self.x), abs(self.x) > 2


q = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = deque(maxlen=500)
env = Line()
state = env.reset()
for step in range(250):
    action = random.randrange(2)
    following, reward, done = env.step(action)
    memory.append(Transition(state, action, reward, following, float(done)))
    state = env.reset() if done else following
    if len(memory) < 50:
        continue
    batch = Transition(*zip(*random.sample(memory, 32)))
    value = q(torch.stack(batch.state)).gather(1, torch.tensor(batch.action)[:, None]).squeeze(1)
    best = q(torch.stack(batch.following)).max(1).values  # fixed: best = q(torch.stack(batch.following)).detach().max(1).values
    target = torch.tensor(batch.reward) + 0.9 * best * (1 - torch.tensor(batch.done))
    loss = nn.functional.smooth_l1_loss(value, target)  # fault: TS416
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(step, loss.item())
