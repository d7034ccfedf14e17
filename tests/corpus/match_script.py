"""Match statements choose layers, losses, optimizers and reductions."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Conv:
    channels: int
    kernel: int = 3


@dataclass(frozen=True)
class Pool:
    kind: str
    size: int = 2


@dataclass(frozen=True)
class Dense:
    units: int


SPEC = [Conv(8), Pool("max"), Conv(16, 5), Pool("avg"), "flatten", Dense(32), ("dropout", 0.2), Dense(4)]


def build(spec, in_channels, size):
    layers = []
    features = in_channels
    for item in spec:
        match item:
            case Conv(channels=c, kernel=k):
                layers += [nn.Conv2d(features, c, k, padding=k // 2), nn.ReLU()]
                features = c
            case Pool(kind="max", size=s):
                layers.append(nn.MaxPool2d(s))
                size //= s
            case Pool(kind="avg", size=s):
                layers.append(nn.AvgPool2d(s))
                size //= s
            case "flatten":
                layers.append(nn.Flatten())
                features = features * size * size
            case Dense(units):
                layers.append(nn.Linear(features, units))
                features = units
            case ("dropout", p):
                layers += [nn.ReLU(), nn.Dropout(p)]
            case _:
                raise ValueError(f"unknown layer {item}")
    return nn.Sequential(*layers)


def make_optimizer(params, config):
    match config:
        case {"name": "sgd", "lr": lr, **rest}:
            return torch.optim.SGD(params, lr=lr, **rest)
        case {"name": "adam", "lr": lr}:
            return torch.optim.Adam(params, lr=lr)
        case _:
            return torch.optim.RMSprop(params)


def reduce(loss, mode: str):
    match mode:
        case "mean":
            return loss.mean()
        case "sum":
            return loss.sum()
        case "none" | None:
            return loss
    raise ValueError(mode)


def describe(x):
    match x.shape:
        case (n, c, h, w):
            return f"{n} images of {c}x{h}x{w}"
        case (n, d):
            return f"{n} vectors of {d}"
        case _:
            return "something"


torch.manual_seed(0)
model = build(SPEC, 1, 16)
optimizer = make_optimizer(model.parameters(), {"name": "sgd", "lr": 0.05, "momentum": 0.9})
for step in range(4):
    images = torch.rand(10, 1, 16, 16)
    labels = torch.randint(4, (10,))
    logits = model(images)
    per_sample = F.cross_entropy(logits, labels, reduction="none")
    loss = reduce(per_sample, "mean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, describe(images), describe(logits), loss.item(), reduce(per_sample, "sum").item())
