"""The critic steps in a method that is called between the actor's loss and its backward()."""
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.actor, self.critic = nn.Linear(4, 3), nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
        self.opt_actor = torch.optim.Adam(self.actor.parameters())
        self.opt_critic = torch.optim.Adam(self.critic.parameters())

    def judge(self, act, reward):
        loss = (self.critic(act.detach())[:, 0] - reward).square().mean()
        self.opt_critic.zero_grad()
        loss.backward()
        self.opt_critic.step()

    def learn(self, x, reward):
        act = self.actor(x)
        gain = self.critic(act).mean()
        self.judge(act, reward)  # cause
        self.opt_actor.zero_grad()
        (-gain).backward()  # raises TS403 at (-gain).backward()
        self.opt_actor.step()


agent = Agent()
for _ in range(2):
    agent.learn(torch.randn(5, 4), torch.randn(5))
