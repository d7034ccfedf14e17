"""Adam with the kernels that update many tensors at once."""

import torch
from torch import nn

layers = []
for width in (512, 512, 512, 512):
    layers += [nn.Linear(width, 512), nn.Tanh()]
model = nn.Sequential(*layers, nn.Linear(512, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=True)
for step in range(3):
    x, y = torch.randn(32, 512), torch.randint(0, 2, (32,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
