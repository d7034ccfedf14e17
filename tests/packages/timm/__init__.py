"""A small stand-in for timm: models by their names."""

from torch import nn

__version__ = "0.0"


class Encoder(nn.Sequential):
    def __init__(self, width: int, num_classes: int) -> None:
        head = nn.Linear(width, num_classes) if num_classes else nn.Identity()
        super().__init__(nn.Conv2d(3, width, 4, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), head)
        self.num_features = width

    def reset_classifier(self, num_classes: int) -> None:
        self[3] = nn.Linear(self.num_features, num_classes)


def create_model(name: str, pretrained: bool = False, num_classes: int = 1000) -> Encoder:
    assert not pretrained, "weights are never loaded"
    return Encoder({"narrow": 24, "wide": 48}[name], num_classes)


def is_model(name: str) -> bool:
    return name in ("narrow", "wide")
