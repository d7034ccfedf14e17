"""Both players use the same fake picture."""

import torch
from torch import nn

G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)


D = Critic()
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for step in range(3):
    real = torch.randn(6, 8)
    fake = G(torch.randn(6, 4))
    d_loss = bce(D(real), torch.ones(6, 1)) + bce(D(fake), torch.zeros(6, 1))  # cause
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = bce(D(fake), torch.ones(6, 1))
    opt_g.zero_grad()
    g_loss.backward()  # raises TS405 at g_loss.backward()
    opt_g.step()
