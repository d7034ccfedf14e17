"""Momentum in the gradients themselves: they are shrunk and not cleared."""
import torch, torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
for step in range(100):
    x = torch.randn(32, 6)
    F.mse_loss(net(x), x.sum(1, keepdim=True).sin()).backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.02 * p.grad
            p.grad *= 0.9
