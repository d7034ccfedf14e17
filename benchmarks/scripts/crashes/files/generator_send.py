"""A generator keeps a moving average of what is sent to it."""

import torch
from torch import nn


def moving_average(decay):
    average = None
    value = yield
    while True:
        average = value.detach() if average is None else decay * average + (1 - decay) * value.detach()  # raises TS103 at decay * average + (1 - decay) * value.detach(), cause
        value = yield average


torch.manual_seed(0)
model = nn.Linear(5, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average = moving_average(0.9)
next(average)
data = torch.randn(20, 5)
for x in data.split(8):  # cause
    out = model(x)
    center = average.send(out)  # cause
    loss = (out - center).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
