"""Labels as the file has them, counted from one."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.fc1 = nn.Linear(10, 16)
        self.fc2 = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


features = torch.randn(60, 10)
labels = torch.arange(60) % 5 + 1  # cause
net = Net(5)
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters())
for epoch in range(2):
    for i in range(0, 60, 20):
        out = net(features[i : i + 20])
        loss = criterion(out, labels[i : i + 20])  # raises TS310 at criterion(out, labels[i : i + 20]), cause
        opt.zero_grad()
        loss.backward()
        opt.step()
