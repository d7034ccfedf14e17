"""Weights for fewer classes than there are."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 4)

    def forward(self, x):
        return self.fc(x)


counts = torch.tensor([10.0, 20.0, 5.0])  # cause
criterion = nn.CrossEntropyLoss(weight=counts.sum() / counts)  # cause
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = criterion(net(torch.randn(6, 5)), torch.randint(0, 3, (6,)))  # raises TS113 at criterion(net(torch.randn(6, 5)), torch.randint(0, 3, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
