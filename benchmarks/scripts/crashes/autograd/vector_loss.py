"""reduction="none" and no mean."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
criterion = nn.CrossEntropyLoss(reduction="none")  # cause
opt = torch.optim.Adam(net.parameters())
weights = torch.tensor([1.0, 0.5, 0.5, 1.0])
for _ in range(2):
    loss = criterion(net(torch.randn(4, 3)), torch.tensor([0, 1, 1, 0])) * weights  # cause
    opt.zero_grad()
    loss.backward()  # raises TS406 at loss.backward(), cause
    opt.step()
