"""Actor and critic with generalised advantages: values of T states, rewards of T actions."""

import torch
from torch import nn
from torch.distributions import Normal


class Agent(nn.Module):
    def __init__(self, observations=5, actions=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, 32), nn.Tanh())
        self.mean, self.value = nn.Linear(32, actions), nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.zeros(actions))

    def forward(self, state):
        h = self.body(state)
        return Normal(self.mean(h), self.log_std.exp()), self.value(h).squeeze(-1)


def advantages(rewards, values, gamma=0.99, smooth=0.95):
    deltas = rewards + gamma * values[1:] - values[:-1]  # raises TS103 at rewards + gamma * values[1:], cause
    found, running = torch.zeros_like(deltas), 0.0
    for step in reversed(range(len(deltas))):
        running = deltas[step] + gamma * smooth * running
        found[step] = running
    return found


def rollout(agent, length):
    state, states, actions, rewards = torch.zeros(5), [], [], []
    for _ in range(length):
        policy, _ = agent(state)
        action = policy.sample()
        states.append(state)
        actions.append(action)
        rewards.append(-(action - state[:2]).pow(2).sum())
        state = 0.9 * state + 0.1 * torch.randn(5)
    return torch.stack(states), torch.stack(actions), torch.stack(rewards)


torch.manual_seed(0)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
for update in range(3):
    with torch.no_grad():
        states, actions, rewards = rollout(agent, 32)
        _, values = agent(states)  # cause
        gain = advantages(rewards, values)  # cause
    policy, predicted = agent(states)
    loss = -(policy.log_prob(actions).sum(-1) * gain).mean() + (predicted - (gain + values)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
