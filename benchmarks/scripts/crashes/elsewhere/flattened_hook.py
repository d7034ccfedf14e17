"""Gradients of filters are scaled to length one by a hook, which gives them back as rows."""
import torch
from torch import nn


def unit_filters(net):
    def scale(grad):
        flat = grad.reshape(len(grad), -1)
        return flat / (flat.norm(dim=1, keepdim=True) + 1e-8)  # cause

    for layer in net:
        if isinstance(layer, nn.Conv1d):
            layer.weight.register_hook(scale)


torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(24, 3))
unit_filters(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(5, 2, 8), torch.randint(3, (5,))
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()  # raises TS103 at loss.backward()
    opt.step()
