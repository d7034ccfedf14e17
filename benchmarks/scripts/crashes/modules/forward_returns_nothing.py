"""The forward method forgets its return."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):  # cause
        out = torch.relu(self.fc(x))  # cause


net = Net()
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    out = net(torch.randn(3, 4))
    loss = criterion(out, torch.tensor([0, 1, 0]))  # raises TS823/TS199/TS825/TS815 at criterion(out, torch.tensor([0, 1, 0]))
    opt.zero_grad()
    loss.backward()
    opt.step()
