"""Gradient accumulation over four micro-batches; the gradients are cleared in each."""
import torch
from torch import nn

torch.manual_seed(3)
centers = torch.randn(5, 20) * 2
labels = torch.randint(0, 5, (1600,))
points = centers[labels] + torch.randn(1600, 20)
net = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 5))
opt = torch.optim.SGD(net.parameters(), lr=0.2)
every = 4


def micro_batches(size=16):
    order = torch.randperm(len(points))
    for part in order.split(size):
        yield points[part], labels[part]


for epoch in range(3):
    for i, (x, y) in enumerate(micro_batches()):
        opt.zero_grad()  # fault: TS504/TS525/TS501 | fixed: pass
        loss = nn.functional.cross_entropy(net(x), y) / every
        loss.backward()  # fault: TS525
        if (i + 1) % every == 0:
            opt.step()
            # fixed: opt.zero_grad()
    print(epoch, loss.item() * every)
