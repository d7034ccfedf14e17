"""An option hides the method train()."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, train=True):
        super().__init__()
        self.train = train  # cause
        self.body = nn.Sequential(nn.Linear(12, width), nn.ReLU(), nn.Linear(width, 3))

    def forward(self, x):
        if self.train:
            x = x + 0.01 * torch.randn_like(x)
        return self.body(x)


def fit(net, batches, epochs=2):
    opt = torch.optim.Adam(net.parameters())
    for epoch in range(epochs):
        net.train()  # raises TS825 at net.train()
        for x, y in batches:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()


batches = [(torch.randn(8, 12), torch.randint(0, 3, (8,))) for _ in range(3)]
fit(Net(16), batches)
