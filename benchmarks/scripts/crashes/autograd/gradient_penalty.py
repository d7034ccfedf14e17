"""A gradient penalty on a tensor that no gradient reaches."""

import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x):
        return self.fc(x)


critic = Critic()
opt = torch.optim.Adam(critic.parameters())
for _ in range(2):
    real, fake = torch.randn(5, 4), torch.randn(5, 4)
    mix = 0.5 * real + 0.5 * fake  # cause
    score = critic(mix)
    (grad,) = torch.autograd.grad(score.sum(), mix, create_graph=True)  # raises TS411 at torch.autograd.grad(score.sum(), mix, create_graph=True)
    loss = score.mean() + (grad.norm(dim=1) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
