"""Threads prepare the crops of a batch, whose sizes differ."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).mean((2, 3)))


def crop(image):
    return image[:, :20, :20]


def assemble(images):
    return torch.stack([crop(image) for image in images])  # raises TS106 at torch.stack([crop(image) for image in images])


def batches(sizes):
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(assemble, [torch.rand(3, s, s) for s in group]) for group in sizes]
        for job in jobs:
            yield job.result()


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for images in batches([(24, 32), (28, 16), (40, 40)]):  # cause
    loss = nn.functional.cross_entropy(net(images), torch.tensor([0, 1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
