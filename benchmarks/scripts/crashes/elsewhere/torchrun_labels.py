# run torch.distributed.run --nproc-per-node 2 --master-port 29613
"""Ranks with shards of their own; the shard of one has a label beyond the classes."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
        self.fc = nn.Linear(16, classes)  # cause
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x, y):
        return self.criterion(self.fc(self.features(x)), y)  # raises TS310 at self.criterion(self.fc(self.features(x)), y)


def shard(rank):
    generator = torch.Generator().manual_seed(rank)
    x = torch.randn(24, 10, generator=generator)
    y = torch.arange(24) % 5 + rank  # cause
    return x, y


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(Net(5))  # cause
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = shard(rank)
    for epoch in range(2):
        for i in range(0, 24, 6):
            loss = model(x[i : i + 6], y[i : i + 6])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
