"""The iterator's method of Python 2."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)


loader = DataLoader(TensorDataset(torch.randn(8, 2)), batch_size=2)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = iter(loader)
for _ in range(3):
    (x,) = batches.next()  # raises TS614 at batches.next, cause
    loss = net(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
