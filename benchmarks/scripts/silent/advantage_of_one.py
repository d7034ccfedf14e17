# Advantages are normalised by their deviation, which an episode of one step does not have.
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)


class Corridor:
    """Walk right to the end; the episode ends at once if the walk begins at the end."""

    def reset(self):
        self.place = int(torch.randint(0, 6, ()))
        return self.observe()

    def observe(self):
        return torch.nn.functional.one_hot(torch.tensor(self.place), 7).float()

    def step(self, action):
        self.place += 1 if action == 1 else -1
        self.place = max(self.place, 0)
        done = self.place >= 6
        return self.observe(), 1.0 if done else -0.1, done


policy = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
env = Corridor()
for episode in range(60):
    state, rewards, log_probs = env.reset(), [], []
    for _ in range(30):
        dist = Categorical(logits=policy(state).nan_to_num())
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
        if done:
            break
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + 0.95 * running
        returns.insert(0, running)
    returns = torch.tensor(returns)
    advantages = (returns - returns.mean()) / (returns.std() + 1e-8)  # fault: TS920 | fixed: advantages = (returns - returns.mean()) / (returns.std(unbiased=False) + 1e-8)
    loss = -(torch.stack(log_probs) * advantages).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 10 == 0:
        print(episode, sum(rewards))
