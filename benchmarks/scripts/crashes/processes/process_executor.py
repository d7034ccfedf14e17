"""Folds are trained by an executor of processes."""

from concurrent.futures import ProcessPoolExecutor

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.fc1 = nn.Linear(inputs, 8)
        self.fc2 = nn.Linear(4, 1)  # cause

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))  # raises TS101 at self.fc2(torch.relu(self.fc1(x)))


def train_fold(fold):
    torch.set_num_threads(1)
    net = Net(6)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        loss = net(torch.randn(5, 6)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(train_fold, range(3))))
