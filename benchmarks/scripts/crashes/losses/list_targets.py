"""Labels as a Python list."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


samples = [([0.1, 0.2, 0.3], 0), ([0.5, 0.1, 0.9], 1)] * 4
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(0, 8, 2):
    features, labels = zip(*samples[i : i + 2])  # cause
    loss = nn.functional.cross_entropy(net(torch.tensor(features)), list(labels))  # raises TS199/TS823/TS815 at nn.functional.cross_entropy(net(torch.tensor(features)), list(labels)), cause
    opt.zero_grad()
    loss.backward()
    opt.step()
