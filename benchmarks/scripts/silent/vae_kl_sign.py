"""A VAE that rewards distance from the prior: the sign of the KL term is wrong."""
import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(64, 48)
        self.mu, self.logvar = nn.Linear(48, 8), nn.Linear(48, 8)
        self.dec1, self.dec2 = nn.Linear(8, 48), nn.Linear(48, 64)

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return torch.sigmoid(self.dec2(F.relu(self.dec1(z)))), mu, logvar


def elbo(recon, x, mu, logvar):
    rec = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())  # fault: TS920/TS945/TS927 | fixed: kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (rec + kld) / len(x)  # fault: TS920/TS945


torch.manual_seed(0)
data = (torch.rand(1024, 1, 64) < torch.rand(1024, 1, 1)).float().squeeze(1)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=5e-3)
for epoch in range(12):
    for x in data.split(64):
        optimizer.zero_grad()
        recon, mu, logvar = vae(x)
        loss = elbo(recon, x, mu, logvar)  # fault: TS920/TS945
        loss.backward()  # fault: TS920/TS945
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
