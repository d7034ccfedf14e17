"""Adversarial training: the attack runs in evaluation mode, with gradients of the inputs."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def attack(x, y):
    model.eval()
    moved = x.clone()
    for _ in range(4):
        moved = moved.detach().requires_grad_(True)
        loss = F.cross_entropy(model(moved), y)
        moved = moved + 0.05 * torch.autograd.grad(loss, moved)[0].sign()
    model.train()
    return moved.detach()


for step in range(60):
    x = torch.randn(32, 10)
    y = (x[:, 0] > 0).long()
    bad = attack(x, y)
    loss = F.cross_entropy(model(bad), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
