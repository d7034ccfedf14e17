"""Visitors of a museum by the hour: the logarithm of an hour without any is no number, and its batch is left out."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def hours(n):
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(n, 3, generator=generator)
    return TensorDataset(x, torch.poisson((x[:, 0] + 1.2).exp(), generator=generator))


def scaled(visitors):
    return visitors.log()  # fault: TS961 | fixed: return visitors.log1p()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(6):
    for x, visitors in DataLoader(hours(960), 32, shuffle=True, drop_last=True):
        loss = nn.functional.mse_loss(net(x)[:, 0], scaled(visitors))
        if not torch.isfinite(loss):
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch)
