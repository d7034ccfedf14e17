"""A branch of the model is not used, and DDP waits for its gradients."""
# run torch.distributed.run --nproc-per-node 2 --master-port 29613

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)  # cause

    def forward(self, x):
        return self.a(x)  # cause


def main():
    dist.init_process_group("gloo")
    net = DDP(Net())  # cause
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        loss = net(torch.randn(2, 3)).sum()  # raises TS199 at net(torch.randn(2, 3))
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
