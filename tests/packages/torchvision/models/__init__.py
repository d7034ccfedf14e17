"""Two image classifiers and one that returns several results."""

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchvision.models._api import WeightsEnum

Outputs = namedtuple("Outputs", ["logits", "aux"])


class SmallNet_Weights(WeightsEnum):
    IMAGES_V1 = "https://localhost/small.pth"
    DEFAULT = IMAGES_V1


class Block(nn.Module):
    def __init__(self, channels: int, norm_layer: Callable[[int], nn.Module] = nn.BatchNorm2d) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = norm_layer(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.norm(self.conv(x)))


class SmallNet(nn.Module):
    def __init__(
        self, num_classes: int = 1000, depth: int = 2, norm_layer: Callable[[int], nn.Module] = nn.BatchNorm2d
    ) -> None:
        super().__init__()
        rates = [rate.item() for rate in torch.linspace(0, 0.5, depth)]
        self.scale = nn.Parameter(torch.ones(16, 1, 1))
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.layers = nn.Sequential(*[Block(16, norm_layer) for _ in rates])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, num_classes)
        nn.init.trunc_normal_(self.fc.weight, std=0.02)

    def forward_features(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(self.stem(x) * self.scale)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[-1] < 8:
            raise ValueError(f"Expected at least 8 columns, got {x.shape[-1]}")
        return self.fc(torch.flatten(self.pool(self.forward_features(x)), 1))


class TwoHeads(SmallNet):
    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__(num_classes)
        self.aux = nn.Linear(16, num_classes)

    def forward(self, x: torch.Tensor) -> "Outputs | torch.Tensor":
        features = torch.flatten(self.pool(self.forward_features(x)), 1)
        return Outputs(self.fc(features), self.aux(features)) if self.training else self.fc(features)


class Segmenter(SmallNet):
    def forward(self, x: torch.Tensor) -> "OrderedDict[str, torch.Tensor]":
        scores = self.fc(self.forward_features(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return OrderedDict(out=nn.functional.interpolate(scores, x.shape[-2:]))


def small_net(
    *, weights: SmallNet_Weights | None = None, progress: bool = True, num_classes: int = 1000, **options: Any
) -> SmallNet:
    if weights is not None and num_classes != 1000:
        raise ValueError(f"The parameter 'num_classes' expected value 1000 but got {num_classes} instead.")
    model = SmallNet(num_classes, **options)
    if weights is not None:
        model.load_state_dict(weights.get_state_dict(progress=progress))
    return model


def two_heads(num_classes: int = 1000) -> TwoHeads:
    return TwoHeads(num_classes)


def segmenter(num_classes: int = 21) -> Segmenter:
    return Segmenter(num_classes)


def list_models() -> list[str]:
    return ["small_net", "two_heads", "segmenter"]
