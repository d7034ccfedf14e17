"""The clean-up after an error fails, too."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)  # raises TS101 at self.fc(x)


def train(net, batches):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in batches:
        opt.zero_grad()
        net(batch).sum().backward()
        opt.step()


net = Net()
try:
    train(net, [torch.randn(2, 4), torch.randn(2, 3)])  # cause
except RuntimeError as error:
    raise SystemExit(f"training stopped: {error}") from error
