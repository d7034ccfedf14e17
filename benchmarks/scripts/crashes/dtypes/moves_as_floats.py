"""What was done is kept in arrays of floating point numbers, as the rewards are."""
import numpy as np
import torch
from torch import nn


class Past:
    def __init__(self, size):
        self.seen = np.zeros((size, 3), np.float32)
        self.move, self.gain = (np.zeros(size, np.float32) for _ in range(2))  # cause
        self.count = 0

    def add(self, seen, move, gain):
        for whole, part in zip((self.seen, self.move, self.gain), (seen, move, gain)):
            whole[self.count] = part
        self.count += 1

    def draw(self, k):
        rows = np.random.randint(self.count, size=k)
        return [torch.from_numpy(part[rows]) for part in (self.seen, self.move, self.gain)]


def loss_of(net, rows):
    seen, move, gain = rows
    return (net(seen).gather(1, move[:, None])[:, 0] - gain).square().mean()  # raises TS309 at net(seen).gather(1, move[:, None])


past, net = Past(50), nn.Linear(3, 2)
for step in range(20):
    past.add(np.random.randn(3), step % 2, 1.0)
    if step > 10:
        loss_of(net, past.draw(4)).backward()
