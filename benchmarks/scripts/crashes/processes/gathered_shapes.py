"""Every rank gathers the predictions of the others into tensors of another size."""
# run torch.distributed.run --nproc-per-node 2 --master-port 29617

import torch
import torch.distributed as dist
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 3)

    def forward(self, x):
        return self.fc(x)


def gather(scores):
    parts = [torch.zeros(4, 2) for _ in range(dist.get_world_size())]  # cause
    dist.all_gather(parts, scores)  # raises TS199/TS103 at dist.all_gather(parts, scores)
    return torch.cat(parts)


def main():
    dist.init_process_group("gloo")
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(2):
        out = net(torch.randn(4, 5))
        loss = out.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        everything = gather(out.detach())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
