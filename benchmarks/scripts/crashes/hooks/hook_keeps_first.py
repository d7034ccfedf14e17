"""A hook keeps the first output of each layer, and gives it back, by a method that a lambda calls."""
import torch
from torch import nn


class Watch:
    def __init__(self, net):
        self.first = {}
        for name, layer in net.named_children():
            layer.register_forward_hook(lambda layer, given, out, name=name: self.keep(name, out))

    def keep(self, name, out):
        return self.first.setdefault(name, out.detach().mean(0))  # cause


net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
Watch(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    out = net(torch.randn(5, 4))  # raises TS199 at net(torch.randn(5, 4))
    loss = nn.functional.cross_entropy(out, torch.randint(0, 2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
