"""Q-learning whose memory keeps the value of each state for the plot, and with it the graph that made it."""
import collections
import random
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Transition:
    state: torch.Tensor
    action: int
    reward: float
    next_state: torch.Tensor
    value: torch.Tensor


class Corridor:
    def __init__(self, n=8):
        self.n, self.at = n, 0

    def reset(self):
        self.at = random.randrange(self.n - 1)
        return self.see()

    def see(self):
        return nn.functional.one_hot(torch.tensor(self.at), self.n).float()

    def step(self, action):
        self.at = max(0, self.at + (1 if action else -1))
        done = self.at == self.n - 1
        return self.see(), float(done), done


torch.manual_seed(0)
random.seed(0)
env = Corridor()
q = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
frozen = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
frozen.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=2e-3)
memory = collections.deque(maxlen=100_000)
state, plotted = env.reset(), []
for step in range(900):
    values = q(state)
    action = random.randrange(2) if random.random() < 0.3 else int(values.argmax())
    following, reward, done = env.step(action)
    memory.append(Transition(state, action, reward, following, values.max()))  # fault: TS701/TS702/TS703 | fixed: memory.append(Transition(state, action, reward, following, values.max().item()))
    state = env.reset() if done else following
    if len(memory) < 64:
        continue
    some = random.sample(memory, 32)
    s, s2 = torch.stack([t.state for t in some]), torch.stack([t.next_state for t in some])
    a, r = torch.tensor([t.action for t in some]), torch.tensor([t.reward for t in some])
    with torch.no_grad():
        target = r + 0.9 * (1 - r) * frozen(s2).max(1).values
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a[:, None]).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    plotted.append(loss.item())
    if step % 100 == 0:
        frozen.load_state_dict(q.state_dict())
print(sum(plotted[:50]), sum(plotted[-50:]))
