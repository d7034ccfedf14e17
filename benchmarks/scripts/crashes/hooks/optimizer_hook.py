"""An average of the weights is kept by a hook of the optimizer."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
average = [torch.zeros_like(p.t()) for p in net.parameters()]  # cause


def update(optimizer, args, kwargs):
    for mean, p in zip(average, net.parameters()):
        mean.mul_(0.9).add_(p.detach(), alpha=0.1)  # raises TS103 at mean.mul_(0.9).add_(p.detach(), alpha=0.1), cause


opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.register_step_post_hook(update)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(2, 3)).sum().backward()
    opt.step()
