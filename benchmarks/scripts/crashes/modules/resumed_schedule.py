"""A schedule that resumes at an epoch, with an optimizer that is new."""

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


def train(start, epochs):
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = CosineAnnealingLR(opt, T_max=epochs, last_epoch=start - 1)  # raises TS199 at CosineAnnealingLR(opt, T_max=epochs, last_epoch=start - 1), cause
    for epoch in range(start, epochs):
        loss = net(torch.randn(3, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()


train(start=5, epochs=10)
