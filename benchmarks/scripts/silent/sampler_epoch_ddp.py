"""Two ranks that train on all of the data, each of them."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def worker(rank, world):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29655")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    y = torch.randint(0, 3, (400,))
    data = TensorDataset(torch.randn(3, 8)[y] + torch.randn(400, 8), y)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=20, shuffle=True)  # fault: TS625/TS917 | fixed: loader = DataLoader(data, batch_size=20, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for a, b in loader:  # fault: TS625/TS917
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(a), b)
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
