"""A GAN whose generator is trained on detached samples."""
import torch
from torch import nn

torch.manual_seed(1)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
g_opt = torch.optim.Adam(G.parameters(), 2e-3, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(D.parameters(), 2e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()


def real_batch(n):
    angle = torch.rand(n) * 6.283
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


for step in range(300):
    real = real_batch(64)
    fake = G(torch.randn(64, 4)).detach()  # fault: TS534/TS512/TS402/TS407 | fixed: fake = G(torch.randn(64, 4))
    d_loss = bce(D(real), torch.ones(64, 1)) + bce(D(fake.detach()), torch.zeros(64, 1))
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()

    g_loss = bce(D(fake), torch.ones(64, 1))
    g_opt.zero_grad()
    g_loss.backward()  # fault: TS534/TS502/TS407
    g_opt.step()  # fault: TS534/TS502
    if step % 100 == 0:
        print(step, d_loss.item(), g_loss.item())
