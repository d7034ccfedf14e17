"""An ensemble is mapped over inputs that are not one for each member."""

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap


class Member(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x):
        return self.net(x)


members = [Member() for _ in range(5)]
params, buffers = stack_module_state(members)
base = Member().to("meta")


def call(p, b, x):
    return functional_call(base, (p, b), (x,))


opt = torch.optim.SGD(params.values(), lr=0.1)
for step in range(2):
    x = torch.randn(16, 4)  # cause
    out = vmap(call)(params, buffers, x)  # raises TS199/TS103 at vmap(call)(params, buffers, x), cause
    loss = out.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
