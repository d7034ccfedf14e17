"""A classifier gets more classes, and its optimizer the state of the one before."""
import torch
from torch import nn


def run(net, opt, classes, steps=2):
    for _ in range(steps):
        loss = nn.functional.cross_entropy(net(torch.randn(6, 4)), torch.randint(0, classes, (6,)))
        opt.zero_grad()
        loss.backward()
        opt.step()  # raises TS199 at opt.step()


def widened(old, classes):
    net = nn.Sequential(old[0], nn.ReLU(), nn.Linear(8, classes))
    with torch.no_grad():
        net[2].weight[: old[2].out_features] = old[2].weight
    return net


def continued(saved, net):
    opt = torch.optim.Adam(net.parameters())
    opt.load_state_dict(saved)  # cause
    return opt


first = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.Adam(first.parameters())
run(first, opt, 3)
second = widened(first, 5)
run(second, continued(opt.state_dict(), second), 5)
