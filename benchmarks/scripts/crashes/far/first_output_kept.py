"""The first batch of every layer is kept for a plot, by a hook that gives back what it has kept."""
import torch
from torch import nn


def watched(net):
    kept = {}
    for name, layer in net.named_children():
        layer.register_forward_hook(lambda layer, given, out, name=name: kept.setdefault(name, out.detach()))  # cause
    return kept


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.two(self.one(x).relu())


@torch.no_grad()
def judged(net, x, y):
    kept = watched(net)
    right = 0
    for rows, kinds in zip(x.split(20), y.split(20)):
        right += nn.functional.cross_entropy(net(rows), kinds).item()  # raises TS113 at nn.functional.cross_entropy(net(rows), kinds)
    return right, {name: out.std().item() for name, out in kept.items()}


torch.manual_seed(0)
print(judged(Waves(), torch.randn(50, 6), torch.randint(3, (50,))))
