"""Distances of equal points: finite, with gradients that are not."""
import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Linear(6, 3)
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-2)


def distance(a, b):
    squared = ((a - b) ** 2).sum(1)
    return torch.sqrt(squared)  # fault: TS920 | fixed: return torch.sqrt(squared + 1e-8)


for step in range(60):
    anchor = torch.randn(32, 6)
    other = anchor + 0.1 * torch.randn(32, 6)
    if step == 20:
        other[:4] = anchor[:4]
    d = distance(embed(anchor), embed(other))
    loss = (d - 1).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
