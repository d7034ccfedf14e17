"""A variational autoencoder: the input is the target, sampling, two terms in the loss."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(64, 32)
        self.mean, self.log_variance = nn.Linear(32, 4), nn.Linear(32, 4)
        self.decode = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 64))

    def forward(self, x):
        h = F.relu(self.encode(x))
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return torch.sigmoid(self.decode(z)), mean, log_variance


torch.manual_seed(0)
data = (torch.rand(256, 4) @ torch.randn(4, 64)).sigmoid()
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
for epoch in range(5):
    vae.train()
    total = 0.0
    for x in DataLoader(data, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        output, mean, log_variance = vae(x)
        loss = F.binary_cross_entropy(output, x, reduction="sum")
        loss = loss - 0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        loss.backward()
        total += loss.item()
        optimizer.step()
    print(epoch, total / len(data))
vae.eval()
with torch.no_grad():
    print(vae.decode(torch.randn(8, 4)).mean().item())
