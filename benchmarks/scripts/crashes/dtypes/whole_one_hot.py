"""Classes are written as rows of ones and zeros, in whole numbers."""
import torch
from torch import nn

def encode(labels, n):
    return torch.eye(n)[labels].long()  # cause

class Task:
    def __init__(self, n=3):
        g = torch.Generator().manual_seed(0)
        self.x = torch.randn(12, 5, generator=g)
        self.y = encode(torch.randint(n, (12,), generator=g), n)

task = Task()
net = nn.Linear(5, 3)
crit = nn.CrossEntropyLoss()
for i in range(0, 12, 4):
    loss = crit(net(task.x[i:i+4]), task.y[i:i+4])  # raises TS302 at crit(net(task.x[i:i+4]), task.y[i:i+4])
    loss.backward()
