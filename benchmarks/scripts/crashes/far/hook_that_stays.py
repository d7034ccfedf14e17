"""Nearest neighbours in the space of one layer, which a hook collects, after each epoch."""
import torch
from torch import nn


class Watched:
    def __init__(self, layer):
        self.layer, self.seen, self.handle = layer, [], None

    def begin(self):
        self.handle = self.layer.register_forward_hook(self.see)

    def see(self, layer, given, out):
        self.seen.append(out.detach())

    def end(self):
        codes = torch.cat(self.seen)
        self.seen, self.handle = [], None  # cause
        return codes


def share(watched, net, bank, query):
    codes = []
    for x, _ in (bank, query):
        watched.begin()
        with torch.no_grad():
            net(x)
        codes.append(watched.end())
    near = torch.cdist(codes[1], codes[0]).argmin(1)
    return (bank[1][near] == query[1]).float().mean()  # raises TS103 at bank[1][near] == query[1]


torch.manual_seed(0)
x = torch.randn(90, 6)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
watched = Watched(net[0])
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(3):
    for part in torch.arange(60).split(20):
        loss = nn.functional.cross_entropy(net(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(share(watched, net, (x[:60], y[:60]), (x[60:], y[60:])).item())
