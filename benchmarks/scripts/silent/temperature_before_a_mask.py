"""Cosines of pairs are multiplied by the temperature, and the diagonal is left out behind that."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
sounds = torch.randn(512, 24)
net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
temperature = 0.07
for step in range(80):
    batch = sounds[torch.randint(0, 512, (32,))]
    pairs = torch.cat([batch + 0.2 * torch.randn_like(batch), batch + 0.2 * torch.randn_like(batch)])
    directions = F.normalize(net(pairs), dim=1)
    alike = torch.mm(directions, directions.T) * temperature  # fault: TS957 | fixed: alike = torch.mm(directions, directions.T) / temperature
    alike = alike.masked_fill(torch.eye(64, dtype=torch.bool), -1e9)
    loss = F.cross_entropy(alike, torch.arange(64).roll(32))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
