"""A checkpoint with more in it than weights."""

import os
import tempfile

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
path = os.path.join(tempfile.mkdtemp(), "last.pt")
for epoch in range(2):
    opt.zero_grad()
    net(torch.randn(2, 3)).sum().backward()
    opt.step()
    torch.save({"model": net.state_dict(), "epoch": epoch}, path)  # cause
restored = Net()
restored.load_state_dict(torch.load(path))  # raises TS530 at restored.load_state_dict(torch.load(path)), cause
