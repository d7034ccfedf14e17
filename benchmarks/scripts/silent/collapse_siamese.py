"""Representation learning without negatives: everything is mapped to one point."""
import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return self.body(x)


def views(x):
    return x + 0.3 * torch.randn_like(x), x + 0.3 * torch.randn_like(x)


def contrast(a, b, temperature=0.2):
    a, b = nn.functional.normalize(a, dim=1), nn.functional.normalize(b, dim=1)
    return nn.functional.cross_entropy(a @ b.T / temperature, torch.arange(len(a)))


encoder = Encoder()
opt = torch.optim.AdamW(encoder.parameters(), lr=5e-3)
clusters = torch.randn(8, 30)
bank = clusters[torch.randint(0, 8, (2048,))] + 0.5 * torch.randn(2048, 30)
for epoch in range(6):
    for i in torch.randperm(2048).split(64):
        one, two = views(bank[i])
        a, b = encoder(one), encoder(two)  # fault: TS922
        loss = (a - b).pow(2).mean()  # fault: TS922 | fixed: loss = contrast(a, b)
        opt.zero_grad()
        loss.backward()  # fault: TS922
        opt.step()
    print(epoch, loss.item())
