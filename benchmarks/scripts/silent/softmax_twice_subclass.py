"""Softmax at the end of a subclass, cross entropy behind a criterion object."""
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.finish(self.layers(x))

    def finish(self, x):
        return x


class Classifier(Base):
    def finish(self, x):
        return torch.softmax(x, dim=-1)  # fault: TS303 | fixed: return x


class Smoothed(nn.Module):
    def __init__(self, smoothing=0.05):
        super().__init__()
        self.ce = nn.CrossEntropyLoss(label_smoothing=smoothing)

    def forward(self, out, target):
        return self.ce(out, target)  # fault: TS303


def epochs(model, criterion, batches, count):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(count):
        for x, y in batches:
            optimizer.zero_grad()
            loss = criterion(model(x), y)  # fault: TS303
            loss.backward()
            optimizer.step()
        yield loss.item()


torch.manual_seed(0)
mean = torch.randn(6, 12) * 2
y = torch.randint(0, 6, (960,))
x = mean[y] + torch.randn(960, 12)
batches = list(zip(x.split(48), y.split(48)))
net = Classifier([nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 6)])
for i, value in enumerate(epochs(net, Smoothed(), batches, 5)):
    print(i, value)
