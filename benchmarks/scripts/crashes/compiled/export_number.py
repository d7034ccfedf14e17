"""A program is exported for batches of any size, and makes a number of the size."""

import torch
from torch import nn
from torch.export import Dim, export


class Halves(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(width, 4)

    def forward(self, frames):
        count = int(frames.size(0))  # cause
        return self.out(frames).view(count, 2, -1).sum(1)


net = Halves(6)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(8, 6)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
count = Dim("count", min=2, max=64)
program = export(net, (torch.randn(8, 6),), dynamic_shapes={"frames": {0: count}})  # raises TS199 at export(net, (torch.randn(8, 6),), dynamic_shapes={"frames": {0: count}})
print(program.module()(torch.randn(3, 6)).shape)
