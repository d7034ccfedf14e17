"""The encoder gives means and variances side by side, and they are taken apart along the batch."""

import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2 * latent))
        self.decode = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, 20))

    def forward(self, x):
        mean, log_variance = self.encode(x).chunk(2)  # cause
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decode(z), mean, log_variance  # raises TS101 at self.decode(z)


vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
for step in range(5):
    x = torch.randn(16, 20)
    recon, mean, log_variance = vae(x)
    kl = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(1).mean()
    loss = nn.functional.mse_loss(recon, x) + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
