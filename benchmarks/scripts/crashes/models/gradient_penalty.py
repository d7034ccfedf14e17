"""WGAN with a gradient penalty at points that need no gradients."""

import torch
from torch import autograd, nn


class Critic(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(dim, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

    def forward(self, x):
        return self.main(x).squeeze(1)


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1)
    interpolates = alpha * real + (1 - alpha) * fake  # cause
    scores = critic(interpolates)
    ones = torch.ones_like(scores)
    (gradients,) = autograd.grad(scores, interpolates, ones, create_graph=True)  # raises TS411 at autograd.grad(scores, interpolates, ones, create_graph=True), cause
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


generator = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 10))
critic = Critic(10)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-4, betas=(0.0, 0.9))
for iteration in range(4):
    real = torch.randn(16, 10)
    for _ in range(2):
        fake = generator(torch.randn(16, 8)).detach()
        loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake)
        opt_c.zero_grad()
        loss.backward()
        opt_c.step()
    opt_g.zero_grad()
    (-critic(generator(torch.randn(16, 8))).mean()).backward()
    opt_g.step()
