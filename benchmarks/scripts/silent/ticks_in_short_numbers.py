"""Ticks of a machine's clock become float32 before the first of them is subtracted."""
import numpy as np
import torch
from torch import nn

FIRST_TICK = 2_900_000_000
random = np.random.default_rng(11)
ticks = FIRST_TICK + random.integers(0, 4000, 800)
load = torch.from_numpy(np.sin((ticks - FIRST_TICK) / 300)).float().unsqueeze(1)


def since_start(ticks):
    return torch.tensor(ticks, dtype=torch.float32) - FIRST_TICK  # fault: TS353 | fixed: return torch.tensor(ticks - FIRST_TICK, dtype=torch.float32)


torch.manual_seed(11)
net = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    rows = random.integers(0, 800, 64)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(since_start(ticks[rows]).unsqueeze(1) / 4000), load[rows]).backward()
    optimizer.step()
