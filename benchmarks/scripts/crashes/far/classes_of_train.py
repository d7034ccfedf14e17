"""Bird calls by species, of which the field season brings one that training has not."""
import torch
from torch import nn
import torch.nn.functional as F

CALLS = ["wren", "robin", "wren", "tit", "robin", "tit", "wren", "robin", "tit", "finch", "wren", "finch"]


def features(n):
    return torch.randn(n, 6, generator=torch.Generator().manual_seed(3))


def encode(names):
    species = sorted(set(names))
    return {name: index for index, name in enumerate(species)}


class Calls(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.out = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, classes))

    def forward(self, x):
        return self.out(x)


def split(x, y, share=0.75):
    n = int(len(x) * share)
    return (x[:n], y[:n]), (x[n:], y[n:])


def main():
    index = encode(CALLS)
    x, y = features(len(CALLS)), torch.tensor([index[name] + 1 for name in CALLS])  # cause
    (xt, yt), (xv, yv) = split(x, y)
    net = Calls(len(index))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        loss = F.cross_entropy(net(xt), yt)  # raises TS310 at F.cross_entropy(net(xt), yt)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(F.cross_entropy(net(xv), yv).item())


main()
