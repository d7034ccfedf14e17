# run torch.distributed.run --nproc-per-node 2
"""Two ranks; the sampler shuffles anew in each epoch, where there is a distributed one."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def loader_of(data, distributed):
    sampler = DistributedSampler(data) if distributed else None
    return DataLoader(data, batch_size=8, sampler=sampler, shuffle=sampler is None)  # cause


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(64, 10)
    loader = loader_of(TensorDataset(x, x.sum(1, keepdim=True)), distributed=dist.get_world_size() > 2)  # cause
    model = DistributedDataParallel(nn.Linear(10, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        loader.sampler.set_epoch(epoch)  # raises TS821/TS825/TS824 at loader.sampler.set_epoch, cause
        for a, b in loader:
            loss = (model(a) - b).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


main()
