"""Few-shot classification: the weights that the inner loop has adapted are not those of the outer loss."""
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F

torch.manual_seed(8)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
outer = torch.optim.Adam(net.parameters(), lr=2e-3)


def task():
    direction = torch.randn(6)
    x = torch.randn(30, 6)
    y = (x @ direction > 0).long()
    return x[:10], y[:10], x[10:], y[10:]


def learned(x, y):
    weights = dict(net.named_parameters())
    loss = F.cross_entropy(functional_call(net, weights, (x,)), y)
    slopes = torch.autograd.grad(loss, tuple(weights.values()), create_graph=True)
    return {name: weight - 0.3 * slope for (name, weight), slope in zip(weights.items(), slopes)}


for step in range(60):
    x, y, others, answers = task()
    quick = learned(x, y)  # fault: TS585
    scores = net(others)  # fault: TS585 | fixed: scores = functional_call(net, quick, (others,))
    loss = F.cross_entropy(scores, answers)
    outer.zero_grad()
    loss.backward()
    outer.step()
