"""A normalisation that leaves nothing: bytes divided as integers."""
import torch
from torch import nn


def load(n):
    g = torch.Generator().manual_seed(1)
    labels = torch.randint(0, 3, (n,), generator=g)
    pixels = (torch.rand(n, 30, generator=g) * 200).byte()
    pixels[torch.arange(n), labels * 10] = 250
    return pixels // 255, labels  # fixed: return pixels / 255, labels


pixels, labels = load(300)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(30, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(6):
    for part in torch.randperm(300).split(30):
        out = net(pixels[part].float())  # fault: TS931
        loss = nn.functional.cross_entropy(out, labels[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
