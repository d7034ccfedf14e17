"""Time steps of a diffusion are drawn as numbers with a fraction, and index a table."""

import torch
from torch import nn

STEPS = 100


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, t[:, None] / STEPS], dim=1))


class Diffusion:
    def __init__(self):
        self.alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, STEPS), 0)

    def noised(self, x, t):
        noise = torch.randn_like(x)
        a = self.alphas[t]  # raises TS309 at self.alphas[t]
        return a.sqrt()[:, None] * x + (1 - a).sqrt()[:, None] * noise, noise


net, diffusion = Denoiser(), Diffusion()
opt = torch.optim.AdamW(net.parameters())
for _ in range(3):
    x = torch.randn(8, 2)
    t = torch.rand(len(x)) * STEPS  # cause
    noisy, noise = diffusion.noised(x, t)
    loss = (net(noisy, t) - noise).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
