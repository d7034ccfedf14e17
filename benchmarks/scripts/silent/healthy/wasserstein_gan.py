"""WGAN with a gradient penalty: several critic steps, a loss that is below zero and rises."""
import torch
from torch import nn

torch.manual_seed(1)
generator = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))


def penalty(real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (gradient,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


for step in range(40):
    for _ in range(3):
        real = torch.randn(32, 2) + 3
        fake = generator(torch.randn(32, 4)).detach()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)
        opt_c.zero_grad()
        loss.backward()
        opt_c.step()
    opt_g.zero_grad()
    g_loss = -critic(generator(torch.randn(32, 4))).mean()
    g_loss.backward()
    opt_g.step()
print(loss.item(), g_loss.item())
