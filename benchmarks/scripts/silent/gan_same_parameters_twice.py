"""A GAN with two optimizers, both made for the generator."""
import torch
from torch import nn

torch.manual_seed(0)
NOISE, BATCH = 6, 64


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, outputs))


G, D = mlp(NOISE, 2), mlp(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))  # fault: TS512/TS534 | fixed: opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)


def real_batch():
    angle = 6.283 * torch.rand(BATCH, 1)
    return torch.cat([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(BATCH, 2)


for step in range(150):
    fake = G(torch.randn(BATCH, NOISE))
    opt_d.zero_grad()
    d_loss = bce(D(real_batch()), ones) + bce(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(D(fake), ones)
    g_loss.backward()
    opt_g.step()
    if step % 50 == 0:
        print(f"{step}: D {d_loss.item():.3f} G {g_loss.item():.3f}")
