"""A GAN in two functions; the generator's loss is computed on samples that are cut off from it."""
import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, z):
        return self.net(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


def real_batch(n):
    return torch.randn(n, 2) * 0.4 + torch.tensor([1.0, -2.0])


torch.manual_seed(0)
G, D = Generator(), Critic()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.9))
bce = nn.functional.binary_cross_entropy_with_logits
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(120):
    fake = G(torch.randn(64, 6))
    opt_d.zero_grad()
    d_loss = bce(D(real_batch(64)), ones) + bce(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(D(fake.detach()), ones)  # fault: TS534 | fixed: g_loss = bce(D(fake), ones)
    g_loss.backward()
    opt_g.step()  # fault: TS502
print(float(d_loss), float(g_loss))
