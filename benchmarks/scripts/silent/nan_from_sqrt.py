"""The gradient of a distance of a point to itself is not a number."""
import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-3)
kind = torch.randint(0, 5, (500,))
points = torch.randn(5, 9)[kind] + 0.4 * torch.randn(500, 9)


def pairwise(e):
    square = (e[:, None] - e[None]).pow(2).sum(-1)
    return square.sqrt()  # fault: TS920 | fixed: return (square + 1e-8).sqrt()


def margin_loss(e, k, margin=1.0):
    d = pairwise(e)
    same = (k[:, None] == k[None]).float()
    return (same * d + (1 - same) * (margin - d).relu()).mean()  # fault: TS920


for epoch in range(3):
    for i in range(0, 500, 50):
        loss = margin_loss(embed(points[i : i + 50]), kind[i : i + 50])  # fault: TS920
        optimizer.zero_grad()
        loss.backward()  # fault: TS920
        optimizer.step()
    print(epoch, loss.item())
