"""A thread prepares batches; its error would end in silence."""

import queue
import threading

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)


def produce(batches, out):
    mean = torch.zeros(4)
    for size in batches:
        batch = torch.randn(8, size) - mean  # raises TS103 at torch.randn(8, size) - mean, cause
        out.put(batch)


ready = queue.Queue(maxsize=2)
thread = threading.Thread(target=produce, args=([4, 4, 5, 4], ready), daemon=True)  # cause
thread.start()
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
while thread.is_alive() or not ready.empty():
    try:
        x = ready.get(timeout=0.2)
    except queue.Empty:
        continue
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
