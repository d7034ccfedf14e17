"""A thread prepares batches into a queue and fails in a view of what is not contiguous."""

import queue
import threading

import torch
from torch import nn


class Prefetcher(threading.Thread):
    def __init__(self, source, depth=2):
        super().__init__(daemon=True)
        self.source, self.queue = source, queue.Queue(depth)

    def prepare(self, frames):
        frames = frames.permute(0, 2, 1, 3)
        return frames.view(frames.size(0), -1)  # raises TS105 at frames.view(frames.size(0), -1), cause

    def run(self):
        try:
            for frames, labels in self.source:
                self.queue.put((self.prepare(frames), labels))
        finally:
            self.queue.put(None)

    def __iter__(self):
        while (item := self.queue.get()) is not None:
            yield item


def batches(count):
    for _ in range(count):
        yield torch.randn(4, 3, 5, 6), torch.randint(0, 2, (4,))


model = nn.Sequential(nn.Linear(90, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    prefetcher = Prefetcher(batches(5))
    prefetcher.start()
    steps = 0
    for x, y in prefetcher:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
    if not steps:
        raise SystemExit("no batches arrived")
