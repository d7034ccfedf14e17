"""Class weights are counted from the labels of a part of a data set, which has none of its own."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Shapes(Dataset):
    def __init__(self, n):
        self.data = torch.randn(n, 7)
        self.targets = torch.arange(n) % 3

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i], self.targets[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.body(x)


def weights_of(dataset):
    counts = torch.bincount(dataset.targets, minlength=3)  # raises TS821/TS918/TS825 at dataset.targets, cause
    return counts.sum() / (3 * counts.float())


full = Shapes(60)
train, test = random_split(full, [45, 15])
criterion = nn.CrossEntropyLoss(weight=weights_of(train))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in DataLoader(train, batch_size=9, shuffle=True):
    loss = criterion(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
