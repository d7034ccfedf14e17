"""An optimizer's state of a model with more parameters."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.fc = nn.Linear(3, 1, bias=bias)

    def forward(self, x):
        return self.fc(x)


def step(net, opt):
    opt.zero_grad()
    net(torch.randn(2, 3)).sum().backward()
    opt.step()


old = Net(True)
saved = torch.optim.Adam(old.parameters())
step(old, saved)
net = Net(False)  # cause
opt = torch.optim.Adam(net.parameters())
opt.load_state_dict(saved.state_dict())  # raises TS530/TS199 at opt.load_state_dict(saved.state_dict()), cause
for _ in range(2):
    step(net, opt)
