"""A network is made without memory and filled from a state that lacks one of its buffers."""

import torch
from torch import nn


class Framed(nn.Module):
    def __init__(self, size=12):
        super().__init__()
        self.register_buffer("taper", torch.hann_window(size), persistent=False)  # cause
        self.out = nn.Linear(size, 2)

    def forward(self, frames):
        return self.out(frames * self.taper)  # raises TS201 at frames * self.taper


def trained():
    net = Framed()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        loss = nn.functional.cross_entropy(net(torch.randn(4, 12)), torch.randint(0, 2, (4,)))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net.state_dict()


def served(state):
    with torch.device("meta"):
        net = Framed()
    net.load_state_dict(state, assign=True)
    return net


net = served(trained())
for _ in range(2):
    print(net(torch.randn(1, 12)).argmax().item())
