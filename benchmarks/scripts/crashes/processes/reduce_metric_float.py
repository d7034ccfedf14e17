# run torch.distributed.run --nproc-per-node 2
"""The loss of an epoch is averaged over the ranks."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def average(value):
    dist.all_reduce(value)  # raises TS815/TS823/TS820/TS618 at dist.all_reduce(value)
    return value / dist.get_world_size()


def train(model, optimizer, epochs):
    for epoch in range(epochs):
        total = 0.0
        for _ in range(4):
            x = torch.randn(8, 6)
            loss = (model(x).squeeze(1) - x.mean(1)).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()  # cause
        mean = average(total / 4)  # cause
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {float(mean):.3f}")


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(nn.Linear(6, 1))
    train(model, torch.optim.Adam(model.parameters()), 2)
    dist.destroy_process_group()
