"""Triplets with a margin: more and more losses are exactly zero."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
crit = nn.TripletMarginLoss(margin=0.5)
opt = torch.optim.Adam(net.parameters(), 2e-3)
means = torch.randn(6, 12) * 2
for step in range(200):
    k = torch.randint(0, 6, (48,))
    other = (k + torch.randint(1, 6, (48,))) % 6
    a, p, n = (means[c] + 0.5 * torch.randn(48, 12) for c in (k, k, other))
    loss = crit(net(a), net(p), net(n))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())
