"""A loss of predicted classes."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x).argmax(dim=1)  # cause


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    x, y = torch.randn(6, 4), torch.randint(3, (6,))
    loss = (net(x).float() - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()  # raises TS401 at loss.backward()
    opt.step()
