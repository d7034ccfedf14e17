"""An actor and a critic with one optimizer, which is given the actor alone."""
import torch
from torch import nn
from torch.distributions import Categorical


class Walk:
    def reset(self):
        self.place, self.t = 0.0, 0
        return torch.tensor([self.place, 0.0])

    def step(self, action):
        self.place += 0.2 if action else -0.2
        self.t += 1
        return torch.tensor([self.place, self.t / 20]), -abs(self.place - 1.0), self.t == 20


torch.manual_seed(1)
actor = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(actor.parameters(), lr=3e-3)  # fault: TS512 | fixed: optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
environment = Walk()

for episode in range(40):
    state, done, logs, values, rewards = environment.reset(), False, [], [], []
    while not done:
        policy = Categorical(logits=actor(state))
        action = policy.sample()
        values.append(critic(state).squeeze(-1))
        logs.append(policy.log_prob(action))
        state, reward, done = environment.step(action.item())
        rewards.append(reward)
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.95 * total
        returns.insert(0, total)
    returns, values = torch.tensor(returns), torch.stack(values)
    advantage = (returns - values).detach()
    loss = -(torch.stack(logs) * advantage).mean() + 0.5 * (returns - values).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
