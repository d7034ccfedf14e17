"""The batch is flattened away."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, images):
        flat = images.flatten()  # cause
        return self.body(flat)  # raises TS101 at self.body(flat)


net = Classifier()
opt = torch.optim.Adam(net.parameters())
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for _ in range(2):
        x, y = torch.rand(16, 1, 28, 28), torch.randint(10, (16,))
        opt.zero_grad()
        criterion(net(x), y).backward()
        opt.step()
