"""Ranks with labels of another kind."""
# run torch.distributed.run --nproc-per-node 2 --master-port 29612

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(5, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.encoder(x)))


if __name__ == "__main__":
    dist.init_process_group(backend="gloo")
    model = DistributedDataParallel(Model())
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        x, y = torch.randn(6, 5), torch.randint(0, 3, (6,)).float()  # cause
        loss = criterion(model(x), y)  # raises TS302/TS113 at criterion(model(x), y), cause
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()
