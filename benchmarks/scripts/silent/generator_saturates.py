# The discriminator is trained twenty times for each step of a generator with a rate of a millionth.
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-7)  # fault: TS928 | fixed: opt_g = torch.optim.Adam(G.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3)
for step in range(80):
    for _ in range(2):
        real = torch.randn(64, 2) * 0.3 + 3
        fake = G(torch.randn(64, 4)).detach()
        loss_d = F.binary_cross_entropy_with_logits(D(real), torch.ones(64, 1)) + F.binary_cross_entropy_with_logits(D(fake), torch.zeros(64, 1))
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
    loss_g = F.binary_cross_entropy_with_logits(D(G(torch.randn(64, 4))), torch.ones(64, 1))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 20 == 0:
        print(step, loss_d.item(), loss_g.item())
