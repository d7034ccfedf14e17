"""A weighted sampler and shuffle together."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


data = TensorDataset(torch.randn(20, 4), torch.randint(0, 2, (20,)))
sampler = WeightedRandomSampler([1.0] * 20, 20)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=5, sampler=sampler, shuffle=True):  # raises TS605 at DataLoader(data, batch_size=5, sampler=sampler, shuffle=True), cause
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
