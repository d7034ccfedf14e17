"""mp.spawn, with an error in one of the two processes."""

import torch
import torch.multiprocessing as mp
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)  # raises TS101 at self.fc(x)


def train(rank, batches):
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for size in batches[rank]:
        x = torch.randn(3, size)  # cause
        loss = net(x).sum()  # cause
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    mp.spawn(train, args=([[4, 4], [4, 5]],), nprocs=2)  # cause
