"""Two ranks; the second one reads another shard."""
# run torch.distributed.run --nproc-per-node 2 --master-port 29611

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        return self.fc(x)  # raises TS101 at self.fc(x)


def shard(rank):
    return torch.randn(4, 6 + rank)  # cause


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    model = DDP(Net())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        loss = model(shard(rank)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
