"""The dataset yields three things, the loop takes two."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


data = TensorDataset(torch.randn(12, 3), torch.randint(0, 2, (12,)), torch.rand(12))  # cause
loader = DataLoader(data, batch_size=4)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in loader:  # raises TS115 at x, y or loader, cause
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
