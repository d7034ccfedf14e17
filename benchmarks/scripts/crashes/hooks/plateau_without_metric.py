"""A scheduler that waits for the validation loss."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=2)
for epoch in range(3):
    loss = net(torch.randn(8, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    scheduler.step()  # raises TS521 at scheduler.step(), cause
