"""Bytes go into a convolution."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))  # raises TS301 at self.conv(x)


pixels = torch.randint(0, 256, (12, 3, 8, 8), dtype=torch.uint8)  # cause
loader = DataLoader(TensorDataset(pixels, torch.randint(0, 2, (12,))), batch_size=4)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
