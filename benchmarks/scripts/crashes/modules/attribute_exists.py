"""A buffer is registered under the name of an attribute."""

import torch
from torch import nn


class Codebook(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.counts = torch.zeros(size)
        self.embed = nn.Embedding(size, dim)
        self.register_buffer("counts", torch.zeros(size))  # raises TS199/TS918 at self.register_buffer("counts", torch.zeros(size)), cause

    def forward(self, z):
        index = torch.cdist(z, self.embed.weight).argmin(1)
        self.counts += torch.bincount(index, minlength=len(self.counts))
        return z + (self.embed(index) - z).detach()


class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(9, 4), nn.Linear(4, 9)
        self.codes = Codebook(16, 4)

    def forward(self, x):
        return self.dec(self.codes(self.enc(x)))


for seed in range(2):
    torch.manual_seed(seed)
    net = VQ()
    opt = torch.optim.Adam(net.parameters())
    x = torch.randn(8, 9)
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
