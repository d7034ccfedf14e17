"""Closures that make batches and steps; inputs are shuffled with one permutation, labels with another."""
import torch
from torch import nn


def stream(x, y, size):
    def epoch():
        for idx in torch.randperm(len(x)).split(size):
            order = idx[torch.randperm(len(idx))]
            yield x[idx], y[order]  # fault: TS933 | fixed: yield x[order], y[order]

    return epoch


def stepper(model, optimizer, loss_fn):
    seen = 0

    def step(x, y):
        nonlocal seen
        seen += len(x)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)  # fault: TS933 | fixed: loss = loss_fn(model(x), y)
        loss.backward()  # fault: TS933 | fixed: loss.backward()
        optimizer.step()
        return loss.detach(), seen

    return step


torch.manual_seed(13)
y = torch.randint(0, 4, (1200,))
x = torch.randn(1200, 8)
x[torch.arange(1200), y] += 2.5
epoch = stream(x, y, 50)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
step = stepper(net, torch.optim.Adam(net.parameters(), lr=2e-3), nn.CrossEntropyLoss())
for number in range(5):
    losses = [step(*batch)[0] for batch in epoch()]
    print(number, torch.stack(losses).mean().item())
