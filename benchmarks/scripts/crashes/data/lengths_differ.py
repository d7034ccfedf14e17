"""Features and labels of different length."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

X = torch.randn(50, 3)
y = (X.sum(1) > 0).long()[1:]  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in DataLoader(TensorDataset(X, y), batch_size=10):  # raises TS611 at TensorDataset(X, y)
    opt.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    opt.step()
