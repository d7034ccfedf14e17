"""Contrastive learning with a slow encoder, whose update only changes names."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)


class Moco:
    def __init__(self):
        self.fast = Encoder()
        self.slow = copy.deepcopy(self.fast)
        self.slow.requires_grad_(False)
        self.opt = torch.optim.SGD(self.fast.parameters(), lr=0.05, momentum=0.9)

    @torch.no_grad()
    def follow(self, m=0.99):
        for q, k in zip(self.fast.parameters(), self.slow.parameters()):
            k = m * k + (1 - m) * q  # fault: TS528 | fixed: k.mul_(m).add_(q, alpha=1 - m)

    def step(self, x):
        a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
        q, k = self.fast(a), self.slow(b)
        loss = F.cross_entropy(q @ k.t() / 0.2, torch.arange(len(x)))
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.follow()
        return loss.item()


torch.manual_seed(0)
moco = Moco()
for epoch in range(3):
    for batch in torch.randn(640, 12).split(32):
        value = moco.step(batch)
print(value)
