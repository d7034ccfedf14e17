"""The actions of a replay buffer have no axis for gather()."""
import random
from collections import deque, namedtuple
import torch
from torch import nn

Step = namedtuple("Step", "state action reward next done")

class Replay:
    def __init__(self, size):
        self.data = deque(maxlen=size)

    def push(self, *values):
        self.data.append(Step(*values))

    def sample(self, n):
        batch = Step(*zip(*random.sample(self.data, n)))
        return (torch.stack(batch.state), torch.tensor(batch.action), torch.tensor(batch.reward),  # cause
                torch.stack(batch.next), torch.tensor(batch.done).float())

class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.opt = torch.optim.Adam(self.q.parameters())
        self.memory = Replay(500)

    def learn(self):
        s, a, r, n, d = self.memory.sample(16)
        with torch.no_grad():
            best = r + 0.99 * self.target(n).max(1).values * (1 - d)
        q = self.q(s).gather(1, a).squeeze(1)  # raises TS108 at self.q(s).gather(1, a), cause
        loss = nn.functional.smooth_l1_loss(q, best)
        self.opt.zero_grad(); loss.backward(); self.opt.step()

agent = Agent()
for t in range(40):
    agent.memory.push(torch.randn(4), random.randrange(2), random.random(), torch.randn(4), False)
    if t > 20:
        agent.learn()
