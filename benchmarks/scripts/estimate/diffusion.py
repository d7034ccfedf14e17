"""A denoising step."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ResBlock(nn.Module):
    def __init__(self, channels, time_dim):
        super().__init__()
        self.norm1 = nn.GroupNorm(8, channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.time = nn.Linear(time_dim, channels)
        self.norm2 = nn.GroupNorm(8, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(t))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return x + h


class Denoiser(nn.Module):
    def __init__(self, channels=64, time_dim=128):
        super().__init__()
        self.time_mlp = nn.Sequential(nn.Linear(1, time_dim), nn.SiLU(), nn.Linear(time_dim, time_dim))
        self.inp = nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = nn.ModuleList([ResBlock(channels, time_dim) for _ in range(4)])
        self.out = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x, t):
        emb = self.time_mlp(t[:, None])
        h = self.inp(x)
        for block in self.blocks:
            h = block(h, emb)
        return self.out(h)


model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000), dim=0)

for step in range(3):
    x0 = torch.randn(16, 3, 32, 32)
    t = torch.randint(0, 1000, (16,))
    noise = torch.randn_like(x0)
    a = alphas[t].view(-1, 1, 1, 1)
    noisy = a.sqrt() * x0 + (1 - a).sqrt() * noise
    loss = F.mse_loss(model(noisy, t.float() / 1000), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
