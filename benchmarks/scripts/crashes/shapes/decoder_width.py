"""A decoder for another latent size; the widths come from the command line."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--latent", type=int, default=6)
parser.add_argument("--hidden", type=int, default=20)
args = parser.parse_args()


class VAE(nn.Module):
    def __init__(self, latent, hidden):
        super().__init__()
        self.enc = nn.Linear(12, hidden)
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 12))  # cause

    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar  # raises TS101 at self.dec(z)


model = VAE(args.latent, args.hidden)
opt = torch.optim.Adam(model.parameters())
for _ in range(2):
    x = torch.rand(5, 12)
    out, mu, logvar = model(x)
    loss = nn.functional.mse_loss(out, x) - 0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
