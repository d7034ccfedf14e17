"""Noise that is the same in every step."""
import torch
from torch import nn

device = "cpu"
x0 = torch.randn(512, 2) * 0.3 + torch.tensor([2.0, -1.0])
net = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(100):
    torch.manual_seed(42)  # fault: TS555 | fixed: pass
    i = torch.randint(0, 512, (64,))
    t = torch.rand(64, 1)
    noise = torch.randn(64, 2)
    xt = (1 - t) * x0[i] + t * noise
    loss = ((net(torch.cat([xt, t], 1)) - (noise - x0[i])) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print(step, loss.item())
