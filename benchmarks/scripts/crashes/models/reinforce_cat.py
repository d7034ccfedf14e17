"""REINFORCE: the log-probabilities of an episode are concatenated, but are numbers."""

import torch
import torch.nn as nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 32)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return torch.softmax(self.affine2(torch.relu(self.affine1(x))), dim=-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    m = Categorical(policy(state))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(gamma=0.99):
    returns, R = [], 0.0
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.cat(policy.saved_log_probs) * returns).sum()  # raises TS106 at torch.cat(policy.saved_log_probs), cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    policy.saved_log_probs.clear()
    policy.rewards.clear()


for episode in range(3):
    state = torch.randn(4)
    for t in range(10):
        action = select_action(state)
        state = state + 0.1 * torch.randn(4) + (0.1 if action else -0.1)
        policy.rewards.append(float(state.abs().sum() < 6))
    finish_episode()
