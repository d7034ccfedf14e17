"""A factor for each sample meets pictures without being given their dimensions."""

import torch
from torch import nn


def mix(x, perm, lam):
    return lam * x + (1 - lam) * x[perm]  # raises TS103 at lam * x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
beta = torch.distributions.Beta(0.4, 0.4)
for _ in range(3):
    images, labels = torch.randn(6, 3, 8, 8), torch.randint(0, 4, (6,))
    lam = beta.sample((6,))  # cause
    mixed = mix(images, torch.randperm(6), lam)
    loss = nn.functional.cross_entropy(net(mixed), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
