"""Advantage actor-critic over a vectorised toy environment: rollouts in lists, bootstrapped returns, entropy bonus."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class VecCatch:
    """Catch a falling ball; n environments at once."""

    def __init__(self, n, size=5, seed=0):
        self.n, self.size = n, size
        self.rng = np.random.RandomState(seed)
        self.reset()

    def reset(self):
        self.ball = np.stack([np.zeros(self.n, dtype=int), self.rng.randint(0, self.size, self.n)], axis=1)
        self.paddle = np.full(self.n, self.size // 2)
        return self.observe()

    def observe(self):
        board = np.zeros((self.n, 2, self.size), dtype=np.float32)
        board[np.arange(self.n), 0, self.ball[:, 1]] = 1 + self.ball[:, 0] / self.size
        board[np.arange(self.n), 1, self.paddle] = 1
        return board.reshape(self.n, -1)

    def step(self, actions):
        self.paddle = np.clip(self.paddle + actions - 1, 0, self.size - 1)
        self.ball[:, 0] += 1
        done = self.ball[:, 0] == self.size - 1
        reward = np.where(done, np.where(self.ball[:, 1] == self.paddle, 1.0, -1.0), 0.0)
        self.ball[done, 0] = 0
        self.ball[done, 1] = self.rng.randint(0, self.size, done.sum())
        return self.observe(), reward.astype(np.float32), done


class ActorCritic(nn.Module):
    def __init__(self, num_inputs, num_outputs, hidden_size):
        super(ActorCritic, self).__init__()
        self.critic = nn.Sequential(nn.Linear(num_inputs, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 1))
        self.actor = nn.Sequential(
            nn.Linear(num_inputs, hidden_size), nn.ReLU(), nn.Linear(hidden_size, num_outputs), nn.Softmax(dim=1)
        )

    def forward(self, x):
        value = self.critic(x)
        probs = self.actor(x)
        dist = Categorical(probs)
        return dist, value


def compute_returns(next_value, rewards, masks, gamma=0.99):
    R = next_value
    returns = []
    for step in reversed(range(len(rewards))):
        R = rewards[step] + gamma * R * masks[step]
        returns.insert(0, R)
    return returns


num_envs, num_steps = 8, 5
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
envs = VecCatch(num_envs)
model = ActorCritic(10, 3, 32).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
state = envs.reset()
for frame_idx in range(6):
    log_probs, values, rewards, masks = [], [], [], []
    entropy = 0
    for _ in range(num_steps):
        state = torch.FloatTensor(state).to(device)
        dist, value = model(state)
        action = dist.sample()
        next_state, reward, done = envs.step(action.cpu().numpy())
        log_prob = dist.log_prob(action)
        entropy += dist.entropy().mean()
        log_probs.append(log_prob)
        values.append(value)
        rewards.append(torch.FloatTensor(reward).unsqueeze(1).to(device))
        masks.append(torch.FloatTensor(1 - done).unsqueeze(1).to(device))
        state = next_state
    next_state = torch.FloatTensor(next_state).to(device)
    _, next_value = model(next_state)
    returns = compute_returns(next_value, rewards, masks)
    log_probs = torch.cat(log_probs).unsqueeze(1)
    returns = torch.cat(returns).detach()
    values = torch.cat(values)
    advantage = returns - values
    actor_loss = -(log_probs * advantage.detach()).mean()
    critic_loss = advantage.pow(2).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.001 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(frame_idx, loss.item(), returns.mean().item())
print(F.one_hot(torch.tensor([1]), 3))
