"""Several models are evaluated in a group of tasks."""

import asyncio

import torch
from torch import nn


class Judge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(16, 2))  # cause

    def forward(self, x):
        return self.layers(x)  # raises TS101 at self.layers(x)


async def evaluate(model, batches):
    total = 0.0
    for x in batches:
        await asyncio.sleep(0)
        total += model(x).softmax(1)[:, 0].sum().item()
    return total


async def main():
    torch.manual_seed(0)
    batches = torch.randn(3, 4, 8)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(evaluate(Judge(width), batches)) for width in (16, 24)]  # cause
    print([task.result() for task in tasks])


asyncio.run(main())
