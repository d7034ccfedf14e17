"""A one-cycle schedule for the epochs, stepped for each batch."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=5)  # cause
for epoch in range(5):
    for x in torch.randn(12, 3).split(4):
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
        scheduler.step()  # raises TS527 at scheduler.step()
