"""The loss class is called with the prediction."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    x, y = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
    loss = nn.CrossEntropyLoss(net(x), y)  # raises TS199/TS815/TS820 at nn.CrossEntropyLoss(net(x), y), cause
    opt.zero_grad()
    loss.backward()
    opt.step()
