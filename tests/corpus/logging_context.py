"""Utilities around training: logging, context managers of one's own, timers, seeding, a registry of models by decorator."""
import contextlib
import logging
import os
import random
import time
from collections import defaultdict, deque

import numpy as np
import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger(__name__)
REGISTRY = {}


def register(name):
    def decorator(cls):
        REGISTRY[name] = cls
        return cls

    return decorator


def seed_everything(seed: int) -> None:
    random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


class SmoothedValue:
    def __init__(self, window_size=20):
        self.deque = deque(maxlen=window_size)
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.deque.append(value)
        self.count += n
        self.total += value * n

    @property
    def median(self):
        return torch.tensor(list(self.deque)).median().item()

    @property
    def global_avg(self):
        return self.total / self.count


class MetricLogger:
    def __init__(self, delimiter="  "):
        self.meters = defaultdict(SmoothedValue)
        self.delimiter = delimiter

    def update(self, **kwargs):
        for k, v in kwargs.items():
            if isinstance(v, torch.Tensor):
                v = v.item()
            assert isinstance(v, (float, int))
            self.meters[k].update(v)

    def __str__(self):
        return self.delimiter.join(f"{name}: {meter.median:.3f} ({meter.global_avg:.3f})" for name, meter in self.meters.items())

    def log_every(self, iterable, freq, header=""):
        for i, obj in enumerate(iterable):
            yield obj
            if i % freq == 0:
                log.info("%s [%d] %s", header, i, self)


@contextlib.contextmanager
def timer(name):
    start = time.perf_counter()
    try:
        yield
    finally:
        log.info("%s took less than a minute: %s", name, time.perf_counter() - start < 60)


@contextlib.contextmanager
def evaluating(net):
    """Temporarily switch to evaluation mode."""
    was_training = net.training
    try:
        net.eval()
        with torch.no_grad():
            yield net
    finally:
        if was_training:
            net.train()


class freeze:
    def __init__(self, *modules):
        self.params = [p for m in modules for p in m.parameters()]

    def __enter__(self):
        for p in self.params:
            p.requires_grad_(False)
        return self

    def __exit__(self, exc_type, exc, tb):
        for p in self.params:
            p.requires_grad_(True)
        return False


@register("conv")
class ConvModel(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv1d(1, width, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4))
        self.head = nn.Linear(4 * width, 2)

    def forward(self, x):
        return self.head(self.stem(x).flatten(1))


@register("mlp")
class MLPModel(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Sequential(nn.Flatten(), nn.LazyLinear(width), nn.ReLU())
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.stem(x))


def batches(n, batch_size=10, length=30):
    for _ in range(n):
        y = torch.randint(0, 2, (batch_size,))
        x = torch.randn(batch_size, 1, length) + y.view(-1, 1, 1)
        yield x, y


def run(name):
    model = REGISTRY[name](width=12)
    model(torch.zeros(1, 1, 30))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    metrics = MetricLogger()
    with timer(name):
        for x, y in metrics.log_every(batches(5), 2, header=name):
            output = model(x)
            loss = criterion(output, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            metrics.update(loss=loss, acc=(output.argmax(1) == y).float().mean())
    with freeze(model.stem):
        x, y = next(batches(1))
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    with evaluating(model) as net:
        x, y = next(batches(1, 50))
        log.info("%s accuracy %.2f", name, (net(x).argmax(1) == y).float().mean().item())


if __name__ == "__main__":
    seed_everything(0)
    for name in REGISTRY:
        run(name)
