"""Several jobs, whose errors come in a group."""

import asyncio
import sys

import torch
from torch import nn

if sys.version_info < (3, 11):

    class ExceptionGroup(Exception):
        def __init__(self, text, errors):
            super().__init__(text)
            self.exceptions = tuple(errors)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x).view(-1, 2)  # raises TS104 at self.fc(x).view(-1, 2), cause


async def job(seed):
    torch.manual_seed(seed)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        await asyncio.sleep(0)
        opt.zero_grad()
        net(torch.randn(3, 3)).sum().backward()
        opt.step()


async def main():
    results = await asyncio.gather(job(0), job(1), return_exceptions=True)
    errors = [result for result in results if isinstance(result, Exception)]
    if errors:
        raise ExceptionGroup("jobs failed", errors)


asyncio.run(main())
