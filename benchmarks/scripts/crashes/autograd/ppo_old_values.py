"""PPO: what was recorded while playing is used in several epochs, with the graph it was made in."""

import torch
from torch import nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, obs, actions):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(obs, 32), nn.Tanh())
        self.actor = nn.Linear(32, actions)
        self.critic = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.shared(obs)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


def rollout(model, steps):
    observations, actions, log_probs, rewards = [], [], [], []
    obs = torch.randn(4)
    for _ in range(steps):
        dist, _ = model(obs)
        action = dist.sample()
        observations.append(obs)
        actions.append(action)
        log_probs.append(dist.log_prob(action))  # cause
        rewards.append(1.0 - obs.abs().mean().item())
        obs = obs + 0.1 * torch.randn(4)
    return torch.stack(observations), torch.stack(actions), torch.stack(log_probs), torch.tensor(rewards)  # cause


def update(model, optimizer, obs, actions, old_log_probs, returns, epochs=4, clip=0.2):
    for _ in range(epochs):
        dist, values = model(obs)
        advantages = returns - values.detach()
        ratio = torch.exp(dist.log_prob(actions) - old_log_probs)  # cause
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
        loss = -surrogate.mean() + 0.5 * (returns - values).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # raises TS405 at loss.backward()
        optimizer.step()


model = ActorCritic(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
for iteration in range(2):
    obs, actions, log_probs, rewards = rollout(model, 16)
    update(model, optimizer, obs, actions, log_probs, rewards)
