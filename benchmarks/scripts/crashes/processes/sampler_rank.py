"""A sampler for two replicas is made for ranks that are counted from one."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

REPLICAS = 2


def train(rank, data, epochs=2):
    sampler = DistributedSampler(data, num_replicas=REPLICAS, rank=rank, seed=0)  # raises TS199/TS918 at DistributedSampler(data, num_replicas=REPLICAS, rank=rank, seed=0)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


torch.manual_seed(0)
data = TensorDataset(torch.randn(16, 3))
for rank in range(1, REPLICAS + 1):  # cause
    train(rank, data)
