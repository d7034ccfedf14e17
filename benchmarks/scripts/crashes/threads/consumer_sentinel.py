"""A thread loads batches into a queue and ends it with None; the training loop does not expect that."""

import queue
import threading

import torch
from torch import nn


class Loader(threading.Thread):
    def __init__(self, batches, capacity=2):
        super().__init__(daemon=True)
        self.batches = batches
        self.queue = queue.Queue(capacity)

    def run(self):
        for _ in range(self.batches):
            self.queue.put((torch.randn(4, 6), torch.randint(0, 2, (4,))))
        self.queue.put(None)  # cause


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        return self.fc(x)


class Trainer(threading.Thread):
    def __init__(self, loader):
        super().__init__()
        self.loader = loader
        self.model = Net()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.failed = False

    def run(self):
        while True:
            x, y = self.loader.queue.get()  # raises TS199 at x, y, cause
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(loss.item())


loader = Loader(3)
trainer = Trainer(loader)
loader.start()
trainer.start()
trainer.join()
