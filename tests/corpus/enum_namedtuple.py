"""Enums choose behaviour, NamedTuples carry batches and outputs; ConvNeXt-ish blocks with partial norm layers."""
import enum
from collections import namedtuple
from functools import partial
from typing import List, NamedTuple, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F

StageSpec = namedtuple("StageSpec", ["channels", "depth", "stride"])
STAGES = [StageSpec(12, 1, 2), StageSpec(24, 2, 2)]


class Pooling(enum.Enum):
    AVG = "avg"
    MAX = "max"


class Mode(enum.IntEnum):
    TRAIN = 0
    VALID = 1


class Batch(NamedTuple):
    images: torch.Tensor
    labels: torch.Tensor
    weights: Optional[torch.Tensor] = None

    def to(self, device):
        return Batch(*(t.to(device) if t is not None else None for t in self))

    @property
    def size(self) -> int:
        return self.images.shape[0]


class Output(NamedTuple):
    logits: torch.Tensor
    features: List[torch.Tensor]


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class StochasticDepth(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0.0:
            return x
        survival = 1.0 - self.p
        noise = torch.empty([x.shape[0]] + [1] * (x.ndim - 1), dtype=x.dtype, device=x.device).bernoulli_(survival)
        return x * noise.div_(survival)


class CNBlock(nn.Module):
    def __init__(self, dim, layer_scale, drop_prob, norm_layer=None):
        super().__init__()
        if norm_layer is None:
            norm_layer = partial(nn.LayerNorm, eps=1e-6)
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, bias=True)
        self.norm = norm_layer(dim)
        self.pwconv = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.layer_scale = nn.Parameter(torch.ones(dim, 1, 1) * layer_scale)
        self.drop_path = StochasticDepth(drop_prob)

    def forward(self, x):
        y = self.dwconv(x)
        y = y.permute(0, 2, 3, 1)
        y = self.pwconv(self.norm(y))
        y = y.permute(0, 3, 1, 2)
        return x + self.drop_path(self.layer_scale * y)


class ConvNet(nn.Module):
    def __init__(self, stages, num_classes, pooling=Pooling.AVG, norm=partial(LayerNorm2d, eps=1e-6)):
        super().__init__()
        self.pooling = pooling
        self.stages = nn.ModuleList()
        total = sum(spec.depth for spec in stages)
        index, channels = 0, 3
        for spec in stages:
            layers = [nn.Conv2d(channels, spec.channels, spec.stride, spec.stride), norm(spec.channels)]
            for _ in range(spec.depth):
                layers.append(CNBlock(spec.channels, 1e-2, 0.1 * index / max(total - 1, 1)))
                index += 1
            self.stages.append(nn.Sequential(*layers))
            channels = spec.channels
        self.head = nn.Linear(channels, num_classes)

    def forward(self, x) -> Output:
        features = []
        for stage in self.stages:
            x = stage(x)
            features.append(x)
        if self.pooling is Pooling.AVG:
            pooled = x.mean([-2, -1])
        elif self.pooling is Pooling.MAX:
            pooled = x.amax((-2, -1))
        else:
            raise ValueError(self.pooling)
        return Output(self.head(pooled), features)


def fetch(mode: Mode, n=8) -> Batch:
    images = torch.rand(n, 3, 16, 16)
    labels = (images.mean((1, 2, 3)) * 10).long() % 3
    return Batch(images, labels, torch.ones(n) if mode == Mode.TRAIN else None)


torch.manual_seed(0)
device = torch.device("cpu")
for pooling in Pooling:
    model = ConvNet(STAGES, 3, pooling)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for mode in (Mode.TRAIN, Mode.VALID, Mode.TRAIN):
        batch = fetch(mode).to(device)
        model.train(mode is Mode.TRAIN)
        with torch.set_grad_enabled(mode is Mode.TRAIN):
            out = model(batch.images)
            per_sample = F.cross_entropy(out.logits, batch.labels, reduction="none")
            loss = (per_sample * batch.weights).mean() if batch.weights is not None else per_sample.mean()
        if mode is Mode.TRAIN:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(pooling.value, mode.name, batch.size, loss.item(), [tuple(f.shape) for f in out.features])
