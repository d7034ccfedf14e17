"""REINFORCE on a little corridor; the log-probabilities are put into a new tensor."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Corridor:
    def reset(self):
        self.at = 3
        return self.state()

    def state(self):
        return torch.nn.functional.one_hot(torch.tensor(self.at), 7).float()

    def step(self, action):
        self.at += 1 if action == 1 else -1
        done = self.at in (0, 6)
        return self.state(), float(self.at == 6) - 0.01, done


policy = nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = Corridor()
for episode in range(150):
    state, log_probs, rewards, done = env.reset(), [], [], False
    while not done and len(rewards) < 40:
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + 0.95 * running
        returns.insert(0, running)
    returns = torch.tensor(returns)
    loss = -(torch.tensor(log_probs, requires_grad=True) * returns).sum()  # fault: TS402/TS534/TS502/TS407 | fixed: loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()  # fault: TS534/TS502
    optimizer.step()  # fault: TS534/TS502
    if episode % 50 == 0:
        print(episode, sum(rewards))
