"""Meta-learning of sine waves whose inner step leaves the graph."""
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-3)


def task():
    a, p = torch.rand(1) * 4 + 1, torch.rand(1) * 3
    x = torch.rand(20, 1) * 10 - 5
    return x, a * torch.sin(x + p)


def adapt(params, x, y, rate=0.01):
    loss = nn.functional.mse_loss(functional_call(net, params, (x,)), y)
    grads = torch.autograd.grad(loss, list(params.values()))
    return {n: (p - rate * g).detach().requires_grad_() for (n, p), g in zip(params.items(), grads)}  # fault: TS401 | fixed: return {n: p - rate * g for (n, p), g in zip(params.items(), grads)}


for step in range(60):
    meta.zero_grad()
    outer = 0.0
    for _ in range(4):
        x, y = task()
        fast = adapt(dict(net.named_parameters()), x[:10], y[:10])
        outer = outer + nn.functional.mse_loss(functional_call(net, fast, (x[10:],)), y[10:])
    outer.backward()  # fault: TS401
    meta.step()
    if step % 20 == 0:
        print(step, outer.item())
