"""A full backward hook takes a tuple for a tensor."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 1)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


norms = []


def remember(module, grad_input, grad_output):
    norms.append(grad_output.norm().item())  # raises TS825 at grad_output.norm, cause


net = Net()
net.a.register_full_backward_hook(remember)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(torch.randn(3, 4)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
