"""A model is exported after training, with an example of another size."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        return self.fc(self.norm(x))  # raises TS109 at self.norm(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(2, 6)).sum().backward()
    opt.step()
example = (torch.randn(2, 8),)  # cause
program = torch.export.export(net, example)  # cause
