"""A layer under another name."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 2, 3)
        self.classifier = nn.Linear(2, 2)

    def forward(self, x):
        x = self.conv(x).mean(-1)
        return self.classifer(x)  # raises TS821 at self.classifer, cause


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(net(torch.randn(4, 1, 9)), torch.tensor([0, 1, 1, 0]))
    opt.zero_grad()
    loss.backward()
    opt.step()
