"""Steps are tried three times by a decorator, which gives up with an error of its own."""

import functools

import torch
from torch import nn


class GaveUp(Exception):
    pass


def retried(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            last = None
            for _ in range(times):
                try:
                    return function(*args, **kwargs)
                except RuntimeError as error:
                    last = error
            raise GaveUp(f"{function.__name__} failed {times} times") from last

        return wrapper

    return decorate


@retried(times=3)
def step(model, optimizer, x, y):
    loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)  # raises TS307/TS302/TS301/TS113 at nn.functional.binary_cross_entropy_with_logits(model(x), y), cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 1), nn.Flatten(0))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(3):
    x = torch.randn(6, 5)
    y = (x.sum(1) > 0).long()  # cause
    print(number, step(model, optimizer, x, y))
