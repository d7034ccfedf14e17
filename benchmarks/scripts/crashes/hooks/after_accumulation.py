"""Gradients are masked by hooks that run after they were accumulated."""

import torch
from torch import nn


def masked(mask):
    def hook(parameter):
        parameter.grad *= mask  # raises TS103 at parameter.grad *= mask

    return hook


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))
for layer in (model[0], model[2]):
    keep = (torch.rand(layer.in_features, layer.out_features) > 0.5).float()  # cause
    layer.weight.register_post_accumulate_grad_hook(masked(keep))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(8, 6)), torch.arange(8) % 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
