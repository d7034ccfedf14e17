"""A hook before a layer casts to half precision."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 4)
        self.b = nn.Linear(4, 1)

    def forward(self, x):
        return self.b(self.a(x))  # raises TS301 at self.b(self.a(x))


net = Net()
net.b.register_forward_pre_hook(lambda module, args: (args[0].to(torch.bfloat16),))  # cause
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(2, 3)).sum().backward()
    opt.step()
