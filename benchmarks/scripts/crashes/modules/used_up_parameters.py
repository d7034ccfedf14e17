"""The generator of parameters is used up by the print above."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)


net = Net()
params = net.parameters()
print(sum(p.numel() for p in params), "parameters")  # cause
optimizer = torch.optim.SGD(params, lr=0.1)  # raises TS529/TS511 at torch.optim.SGD(params, lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    net(torch.randn(2, 3)).sum().backward()
    optimizer.step()
