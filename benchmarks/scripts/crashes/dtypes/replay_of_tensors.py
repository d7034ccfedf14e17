"""Q-learning: a batch is made out of a replay memory of tensors."""

import random
from collections import deque, namedtuple

import torch
from torch import nn

Transition = namedtuple("Transition", ("state", "action", "reward", "next_state"))


class QNet(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_obs, 24), nn.ReLU(), nn.Linear(24, n_actions))

    def forward(self, x):
        return self.layers(x)


class Agent:
    def __init__(self):
        self.memory = deque([], maxlen=100)
        self.net = QNet(4, 2)
        self.optimizer = torch.optim.RMSprop(self.net.parameters())

    def act(self, state):
        with torch.no_grad():
            return int(self.net(state).argmax())

    def learn(self, batch_size=8):
        if len(self.memory) < batch_size:
            return
        batch = Transition(*zip(*random.sample(self.memory, batch_size)))
        states = torch.tensor(batch.state)  # raises TS199 at torch.tensor(batch.state), cause
        next_states = torch.stack(batch.next_state)
        actions = torch.tensor(batch.action).unsqueeze(1)
        rewards = torch.tensor(batch.reward)
        q = self.net(states).gather(1, actions).squeeze(1)
        with torch.no_grad():
            target = rewards + 0.99 * self.net(next_states).max(1).values
        loss = nn.functional.smooth_l1_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent()
for episode in range(3):
    state = torch.randn(4)
    for t in range(10):
        action = agent.act(state)
        following = state + 0.1 * torch.randn(4)
        agent.memory.append(Transition(state, action, 1.0, following))
        state = following
        agent.learn()
