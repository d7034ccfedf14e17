"""DDPG with a ring buffer of tensors, two-network critics and Polyak averaging on a toy pendulum."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class RingBuffer:
    def __init__(self, capacity, obs_dim, act_dim):
        self.obs = torch.zeros(capacity, obs_dim)
        self.act = torch.zeros(capacity, act_dim)
        self.rew = torch.zeros(capacity)
        self.next_obs = torch.zeros(capacity, obs_dim)
        self.done = torch.zeros(capacity, dtype=torch.bool)
        self.capacity, self.ptr, self.size = capacity, 0, 0

    def store(self, o, a, r, o2, d):
        self.obs[self.ptr] = o
        self.act[self.ptr] = a
        self.rew[self.ptr] = r
        self.next_obs[self.ptr] = o2
        self.done[self.ptr] = d
        self.ptr = (self.ptr + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, n):
        idx = torch.randint(0, self.size, (n,))
        return dict(obs=self.obs[idx], act=self.act[idx], rew=self.rew[idx], next_obs=self.next_obs[idx], done=self.done[idx])


class Pendulum:
    def reset(self):
        self.theta, self.omega, self.t = random.uniform(-1, 1), 0.0, 0
        return self._obs()

    def _obs(self):
        return torch.tensor([math.cos(self.theta), math.sin(self.theta), self.omega])

    def step(self, u):
        self.omega += 0.05 * (9.8 * math.sin(self.theta) + 3 * u)
        self.theta += 0.05 * self.omega
        self.t += 1
        reward = -(self.theta ** 2 + 0.1 * self.omega ** 2 + 0.001 * u ** 2)
        return self._obs(), reward, self.t >= 20


def mlp(sizes, activation=nn.ReLU, output_activation=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden, act_limit):
        super().__init__()
        self.pi = mlp([obs_dim, *hidden, act_dim], output_activation=nn.Tanh)
        self.act_limit = act_limit

    def forward(self, obs):
        return self.act_limit * self.pi(obs)


class QFunction(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.q = mlp([obs_dim + act_dim] + list(hidden) + [1])

    def forward(self, obs, act):
        q = self.q(torch.cat([obs, act], dim=-1))
        return torch.squeeze(q, -1)


@torch.no_grad()
def polyak(source, target, rho=0.95):
    for p, p_targ in zip(source.parameters(), target.parameters()):
        p_targ.data.mul_(rho)
        p_targ.data.add_((1 - rho) * p.data)


random.seed(0)
torch.manual_seed(0)
actor, actor_targ = Actor(3, 1, (32, 32), 2.0), Actor(3, 1, (32, 32), 2.0)
q1, q2 = QFunction(3, 1, (32, 32)), QFunction(3, 1, (32, 32))
q1_targ, q2_targ = QFunction(3, 1, (32, 32)), QFunction(3, 1, (32, 32))
for net, targ in [(actor, actor_targ), (q1, q1_targ), (q2, q2_targ)]:
    targ.load_state_dict(net.state_dict())
    for p in targ.parameters():
        p.requires_grad = False
pi_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
q_optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-3)
buffer = RingBuffer(500, 3, 1)
env = Pendulum()


def update(data, gamma=0.99):
    o, a, r, o2, d = data["obs"], data["act"], data["rew"], data["next_obs"], data["done"]
    with torch.no_grad():
        a2 = actor_targ(o2)
        a2 = (a2 + 0.1 * torch.randn_like(a2).clamp(-0.5, 0.5)).clamp(-2, 2)
        q_targ = torch.min(q1_targ(o2, a2), q2_targ(o2, a2))
        backup = r + gamma * (~d).float() * q_targ
    loss_q = F.mse_loss(q1(o, a), backup) + F.mse_loss(q2(o, a), backup)
    q_optimizer.zero_grad()
    loss_q.backward()
    q_optimizer.step()
    loss_pi = -q1(o, actor(o)).mean()
    pi_optimizer.zero_grad()
    loss_pi.backward()
    pi_optimizer.step()
    for net, targ in [(actor, actor_targ), (q1, q1_targ), (q2, q2_targ)]:
        polyak(net, targ)
    return loss_q.item(), loss_pi.item()


for episode in range(4):
    o, ep_ret, done = env.reset(), 0, False
    while not done:
        with torch.no_grad():
            a = actor(o) + 0.1 * torch.randn(1)
        a = a.clamp(-2, 2)
        o2, r, done = env.step(a.item())
        buffer.store(o, a, r, o2, done)
        o = o2
        ep_ret += r
        if buffer.size >= 32:
            losses = update(buffer.sample(16))
    print(episode, round(ep_ret, 2))
