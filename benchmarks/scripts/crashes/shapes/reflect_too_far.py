"""Reflection padding that is wider than the feature map at the bottom of the network."""

import torch
from torch import nn


def block(i, o, pad):
    return nn.Sequential(nn.ReflectionPad2d(pad), nn.Conv2d(i, o, 2 * pad + 1, stride=2), nn.ReLU())


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(block(3, 8, 3), block(8, 16, 3), block(16, 32, 3), block(32, 64, 3))  # cause
        self.out = nn.Linear(64, 1)

    def forward(self, x):
        return self.out(self.net(x).mean((2, 3)))  # raises TS112 at self.net(x)


critic = Critic()
optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-4)
for _ in range(3):
    real, fake = torch.rand(4, 3, 24, 24), torch.rand(4, 3, 24, 24)  # cause
    loss = critic(fake).mean() - critic(real).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
