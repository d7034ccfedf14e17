"""The optimizer gets the model."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


def configure(model, lr):
    return torch.optim.AdamW(model, lr=lr)  # raises TS815 at torch.optim.AdamW(model, lr=lr), cause


net = Net()
opt = configure(net, 1e-3)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(2, 3)).sum().backward()
    opt.step()
