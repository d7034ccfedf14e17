"""Momentum written by hand on top of torch.autograd.grad, with a step far too large: the loss goes up and never comes back."""
import math
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
weights = list(net.parameters())
velocity = [torch.zeros_like(w) for w in weights]
LR, MOMENTUM = 1.5, 0.9  # fault: TS927/TS921/TS920 | fixed: LR, MOMENTUM = 0.02, 0.9
truth = torch.randn(8, 1)
history = []
for iteration in range(200):
    batch = torch.randn(64, 8)
    target = torch.sin(batch @ truth)
    loss = ((net(batch) - target) ** 2).mean()  # fault: TS927/TS921/TS920
    gradients = torch.autograd.grad(loss, weights)  # fault: TS927/TS921/TS920
    with torch.no_grad():
        for w, v, g in zip(weights, velocity, gradients):
            v.mul_(MOMENTUM).add_(g)
            w.sub_(LR * v)  # fault: TS927/TS921/TS920 | fixed: w.sub_(LR * v)
    history.append(loss.item())
print(history[0], sum(history[-20:]) / 20, math.isfinite(history[-1]))
