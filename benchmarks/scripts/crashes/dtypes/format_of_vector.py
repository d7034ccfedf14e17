"""A loss without reduction is printed with a number of digits."""

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
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    losses = criterion(net(torch.randn(5, 3)), torch.randint(0, 2, (5,)))
    opt.zero_grad()
    losses.mean().backward()
    opt.step()
    print(f"step {step}: loss {losses:.4f}")  # raises TS199 at f"step {step}: loss {losses:.4f}" or losses, cause
