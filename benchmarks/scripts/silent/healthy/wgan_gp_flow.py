"""WGAN-GP: the critic's loss is negative and swings, gradients of gradients."""
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
C = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
go, co = torch.optim.Adam(G.parameters(), 1e-3, (0.5, 0.9)), torch.optim.Adam(C.parameters(), 1e-3, (0.5, 0.9))
for step in range(60):
    for _ in range(3):
        real = torch.randn(64, 2) * 0.3 + torch.tensor([1.0, -1.0])
        fake = G(torch.randn(64, 3)).detach()
        mix = torch.rand(64, 1)
        between = (mix * real + (1 - mix) * fake).requires_grad_()
        (slope,) = torch.autograd.grad(C(between).sum(), between, create_graph=True)
        loss = C(fake).mean() - C(real).mean() + 10 * (slope.norm(2, 1) - 1).pow(2).mean()
        co.zero_grad()
        loss.backward()
        co.step()
    g = -C(G(torch.randn(64, 3))).mean()
    go.zero_grad()
    g.backward()
    go.step()
    if step % 20 == 0:
        print(step, loss.item(), g.item())
