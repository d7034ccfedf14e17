"""REINFORCE on a small corridor: the loss means nothing, the returns rise."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def episode():
    state, rewards, log_probs = 2, [], []
    for _ in range(20):
        distribution = Categorical(logits=policy(nn.functional.one_hot(torch.tensor(state), 6).float()))
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        state = max(0, min(5, state + (1 if action.item() else -1)))
        rewards.append(1.0 if state == 5 else -0.1)
        if state == 5:
            break
    return rewards, log_probs


history = []
for number in range(60):
    rewards, log_probs = episode()
    returns = torch.tensor([sum(rewards[i:]) for i in range(len(rewards))])
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(sum(rewards))
print(sum(history[:10]) / 10, sum(history[-10:]) / 10)
